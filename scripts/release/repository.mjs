/**
 * The address of the repository that a manifest names, as a browser takes it: `https://github.com/OWNER/NAME`.
 * @param {Record<string, any>} manifest
 * @returns {string | undefined}
 */
export function repositoryUrl({ repository }) {
  const url = typeof repository === "string" ? repository : repository?.url;
  const [, address] = /^(?:git\+)?(https:\/\/[^/]+\/[^/]+\/[^/]+?)(?:\.git)?$/.exec(url ?? "") ?? [];
  return address;
}
