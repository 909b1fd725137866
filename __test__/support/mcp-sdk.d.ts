/** What the declarations of MCP's SDK expect of a browser's library, which Node's types do not have by this name. */
type HeadersInit = NonNullable<RequestInit["headers"]>;
