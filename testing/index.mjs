import testing from "./index.js";

export const { standInAgentPath, scenarioPath, scenarioEnv } = testing;
