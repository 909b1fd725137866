// What the checkers of others cannot know: that the workflows agree with this repository and with each other. Each
// check takes the parsed workflows and gives sentences about what is wrong.

import { parse } from "yaml";

/** @typedef {import("./facts.mjs").Facts} Facts */

/** A file of .github/workflows/. @typedef {{ name: string, text: string }} Workflow */

/**
 * @typedef {{ uses?: string, run?: string, with?: Record<string, unknown>, if?: string, "continue-on-error"?: unknown }} Step
 */

/**
 * @typedef {{
 *   uses?: string,
 *   container?: string | { image?: string, options?: string },
 *   environment?: string,
 *   env?: Record<string, string>,
 *   permissions?: Record<string, string>,
 *   needs?: string | string[],
 *   if?: string,
 *   strategy?: { matrix?: Record<string, any> },
 *   steps?: Step[],
 *   "timeout-minutes"?: number,
 *   "continue-on-error"?: unknown,
 * }} Job
 */

/**
 * @typedef {object} Parsed
 * @property {string} name
 * @property {string} text
 * @property {unknown} permissions
 * @property {{ group?: string, "cancel-in-progress"?: unknown }} [concurrency]
 * @property {Record<string, Job>} jobs
 */

/** @param {Parsed[]} workflows @returns {{ at: string, workflow: string, id: string, job: Job }[]} */
const everyJob = (workflows) =>
  workflows.flatMap(({ name, jobs }) =>
    Object.entries(jobs).map(([id, job]) => ({ at: `${name}, job ${id}`, workflow: name, id, job })),
  );

/** @param {Parsed[]} workflows @returns {{ at: string, step: Step }[]} */
const everyStep = (workflows) =>
  everyJob(workflows).flatMap(({ at, job }) => (job.steps ?? []).map((step) => ({ at, step })));

/** An action is the commit that was looked at, and a comment says which version that is. @param {Parsed[]} workflows */
function pins(workflows) {
  /** @type {Map<string, string>} */
  const known = new Map();
  return workflows.flatMap(({ name, text }) =>
    [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].flatMap(([, line = ""]) => {
      if (line.startsWith("./")) return [];
      const [, action = "", digest] = /^([\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+$/.exec(line) ?? [];
      if (digest === undefined) return [`${name}: \`${line}\` is not pinned as OWNER/NAME@COMMIT # vVERSION`];
      const pin = known.get(action) ?? line;
      known.set(action, pin);
      return pin === line ? [] : [`${name}: \`${line}\` is \`${pin}\` elsewhere`];
    }),
  );
}

/** What the actions are told here. actionlint knows their inputs only by their tags. @type {Record<string, string[]>} */
const INPUTS = {
  "actions/checkout": ["fetch-depth", "persist-credentials", "sparse-checkout"],
  "actions/setup-node": ["node-version", "package-manager-cache"],
  "actions/upload-artifact": ["if-no-files-found", "name", "path", "retention-days"],
  "actions/download-artifact": ["name", "path", "pattern"],
};

/** An action is told only what it understands, and an artifact that is fetched was stored. @param {Parsed[]} workflows */
function inputs(workflows) {
  const steps = everyStep(workflows);
  const action = (/** @type {Step} */ step) => step.uses?.split("@")[0] ?? "";
  const unknown = steps.flatMap(({ at, step }) =>
    Object.keys(step.uses === undefined ? {} : (step.with ?? {}))
      .filter((input) => !INPUTS[action(step)]?.includes(input))
      .map(
        (input) =>
          `${at}: ${action(step)} is told \`${input}\`, which scripts/workflows/checks.mjs does not know`,
      ),
  );
  const artifact = ({ with: inputs = {} } = /** @type {Step} */ ({})) =>
    String(inputs.name ?? inputs.pattern).replace(/\$\{\{.*?\}\}/, "*");
  const stored = steps
    .filter(({ step }) => action(step) === "actions/upload-artifact")
    .map(({ step }) => artifact(step));
  const lost = steps
    .filter(({ step }) => action(step) === "actions/download-artifact" && !stored.includes(artifact(step)))
    .map(({ at, step }) => `${at}: nobody stores the artifact ${artifact(step)}`);
  return [...unknown, ...lost];
}

/** A container is the image that was looked at. @param {Parsed[]} workflows */
function images(workflows) {
  return everyJob(workflows).flatMap(({ at, job }) => {
    const { container, strategy } = job;
    const own = typeof container === "string" ? container : container?.image;
    const listed = /** @type {{ image?: string }[]} */ (strategy?.matrix?.include ?? []).map(
      ({ image }) => image,
    );
    return [own, ...listed]
      .filter((image) => image !== undefined)
      .filter((image) => !/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image))
      .map((image) => `${at}: the image ${image} is not pinned as NAME:TAG@sha256:DIGEST`);
  });
}

/**
 * Nothing is allowed to a whole workflow. A job may read the repository, and one, which waits for a reviewer, may prove
 * to npm who it is.
 * @param {Parsed[]} workflows
 */
function permissions(workflows) {
  const wide = workflows
    .filter((workflow) => JSON.stringify(workflow.permissions) !== "{}")
    .map(({ name }) => `${name} does not begin with \`permissions: {}\``);
  const jobs = everyJob(workflows).flatMap(({ at, workflow, id, job }) => {
    const publishes = workflow === "release.yml" && id === "publish";
    const wanted = { contents: "read", ...(publishes ? { "id-token": "write" } : {}) };
    const wrong = [];
    if (JSON.stringify(job.permissions) !== JSON.stringify(wanted))
      wrong.push(
        `${at}: its permissions are ${JSON.stringify(job.permissions)}, not ${JSON.stringify(wanted)}`,
      );
    if (publishes && job.environment !== "npm") wrong.push(`${at}: it is not in the environment npm`);
    return wrong;
  });
  // No token of anybody is kept for a workflow.
  const secrets = workflows
    .filter(({ text }) => /\bsecrets\b/.test(text))
    .map(({ name }) => `${name} uses secrets; npm takes the identity of the workflow`);
  return [...wide, ...jobs, ...secrets];
}

/** Every job of steps ends, and keeps no key to the repository. @param {Parsed[]} workflows */
function bounds(workflows) {
  const endless = everyJob(workflows)
    .filter(({ job }) => job.steps !== undefined && job["timeout-minutes"] === undefined)
    .map(({ at }) => `${at}: it has no timeout-minutes`);
  const keys = everyStep(workflows)
    .filter(
      ({ step }) =>
        step.uses?.startsWith("actions/checkout@") && step.with?.["persist-credentials"] !== false,
    )
    .map(({ at }) => `${at}: its checkout has no \`persist-credentials: false\``);
  return [...endless, ...keys];
}

/** What is called is there. @param {Parsed[]} workflows @param {Facts} facts */
function commands(workflows, { npmScripts, stages, exists }) {
  const called = everyStep(workflows).flatMap(({ at, step: { run = "" } }) => {
    const files = [...run.matchAll(/(?:^|\s)(scripts\/[\w./-]+|\.ci\/\w+)/g)].map(([, file = ""]) => file);
    const named = [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    const only = [...run.matchAll(/--only ([\w,-]+)/g)].flatMap(([, names = ""]) => names.split(","));
    return [
      ...files.filter((file) => !exists(file)).map((file) => `${at}: there is no file ${file}`),
      ...named
        .filter((name) => !npmScripts.includes(name))
        .map((name) => `${at}: there is no script ${name}`),
      ...only.filter((name) => !stages.includes(name)).map((name) => `${at}: there is no stage ${name}`),
    ];
  });
  const workflowsUsed = everyJob(workflows).flatMap(({ at, job: { uses } }) =>
    uses === undefined || exists(uses) ? [] : [`${at}: there is no workflow ${uses}`],
  );
  return [...called, ...workflowsUsed];
}

/** Every target is built, once, and a release has no way around what was built. @param {Parsed[]} workflows @param {Facts} facts */
function targets(workflows, { platforms }) {
  const job = (/** @type {string} */ file, /** @type {string} */ id) =>
    workflows.find(({ name }) => name === file)?.jobs[id];
  const built = /** @type {{ target: string, platform: string }[]} */ (
    job("packages.yml", "build")?.strategy?.matrix?.include ?? []
  ).map(({ target, platform }) => `${target} as ${platform}`);
  const wanted = platforms.map(({ target, name }) => `${target} as ${name}`);
  const wrong = [
    ...wanted.filter((line) => !built.includes(line)).map((line) => `packages.yml does not build ${line}`),
    ...built
      .filter((line) => !wanted.includes(line))
      .map((line) => `packages.yml builds ${line}, which is no target`),
    ...built
      .filter((line, index) => built.indexOf(line) !== index)
      .map((line) => `packages.yml builds ${line} twice`),
  ];
  if (job("ci.yml", "packages")?.uses !== "./.github/workflows/packages.yml")
    wrong.push("ci.yml does not build the packages by packages.yml");
  if (job("release.yml", "ci")?.uses !== "./.github/workflows/ci.yml")
    wrong.push("release.yml does not run ci.yml at the tag");
  return wrong;
}

/**
 * Nothing is published that some job has not passed: the one that publishes waits for all others, whatever they are
 * called. One release is made after the other.
 * @param {Parsed[]} workflows
 */
function order(workflows) {
  const release = workflows.find(({ name }) => name === "release.yml");
  const { publish, ...others } = release?.jobs ?? {};
  const needs = [publish?.needs ?? []].flat();
  const missing = Object.keys(others).filter((id) => !needs.includes(id));
  const wrong = missing.map((id) => `release.yml, job publish: it does not wait for ${id}`);
  if (release?.concurrency?.group !== "release" || release.concurrency["cancel-in-progress"] !== false)
    wrong.push("release.yml: two releases could run at once, or one be broken off while it publishes");
  return wrong;
}

/** What may differ between the systems that a job runs on. */
const CONDITION = /^runner\.os (==|!=) '\w+'$/;

/**
 * What fails is seen: no job is left out by a condition, no step but by the system that it is for, and nothing goes on
 * after an error. A release runs these same jobs.
 * @param {Parsed[]} workflows
 */
function failures(workflows) {
  const deaf = "it goes on after an error";
  const jobs = everyJob(workflows).flatMap(({ at, job }) => [
    ...(job.if === undefined ? [] : [`${at}: it has a condition`]),
    ...(job["continue-on-error"] === undefined ? [] : [`${at}: ${deaf}`]),
  ]);
  const steps = everyStep(workflows).flatMap(({ at, step }) => {
    const what = step.run ?? step.uses;
    return [
      ...(step.if === undefined || CONDITION.test(step.if) ? [] : [`${at}: \`${what}\` has a condition`]),
      ...(step["continue-on-error"] === undefined ? [] : [`${at}: \`${what}\`: ${deaf}`]),
      ...(/\|\|\s*(true|:)(\s|$)|\bset \+e\b/.test(step.run ?? "") ? [`${at}: \`${what}\`: ${deaf}`] : []),
    ];
  });
  return [...jobs, ...steps];
}

/** A container has a first process that waits for what ends without a parent. @param {Parsed[]} workflows */
function reaping(workflows) {
  return everyJob(workflows)
    .filter(({ job: { container } }) => container !== undefined)
    .filter(
      ({ job: { container } }) => typeof container === "string" || !/--init\b/.test(container?.options ?? ""),
    )
    .map(({ at }) => `${at}: its container has no \`options: --init\``);
}

/** The versions of Node and of Rust are those of package.json, scripts/runtimes/ and Cargo.toml. @param {Parsed[]} workflows @param {Facts} facts */
function versions(workflows, { oldestNode, nodeMajors, oldestRust }) {
  const wrong = [];
  const [oldestMajor] = oldestNode.split(".");
  const wanted = nodeMajors.map((major) => (major === oldestMajor ? `${oldestNode}.0` : major));
  for (const { at, job } of everyJob(workflows)) {
    const nodes = job.strategy?.matrix?.node;
    if (nodes !== undefined && nodes.join() !== wanted.join())
      wrong.push(`${at}: it runs in Node ${nodes.join(", ")}, not ${wanted.join(", ")}`);
  }
  if (!everyJob(workflows).some(({ job }) => job.strategy?.matrix?.node !== undefined))
    wrong.push("no job runs in every Node");
  for (const { at, step } of everyStep(workflows)) {
    const version = step.with?.["node-version"];
    if (version === undefined || String(version).includes("matrix.node")) continue;
    if (!nodeMajors.includes(String(version)))
      wrong.push(`${at}: Node ${version} is none of scripts/runtimes/ (${nodeMajors.join(", ")})`);
  }

  /** @type {Map<string, string>} */
  const rusts = new Map();
  for (const { at, id, job } of everyJob(workflows)) {
    const image = typeof job.container === "string" ? job.container : job.container?.image;
    const version = job.env?.RUSTUP_TOOLCHAIN ?? /^rust:([\d.]+)-/.exec(image ?? "")?.[1];
    if (id === "oldest-rust") {
      if (version !== oldestRust)
        wrong.push(`${at}: it checks Rust ${version}, and Cargo.toml says ${oldestRust}`);
    } else if (version !== undefined) {
      rusts.set(version.split(".").slice(0, 2).join("."), at);
    }
  }
  if (rusts.size > 1)
    wrong.push(
      `several versions of Rust: ${[...rusts].map(([version, at]) => `${version} in ${at}`).join("; ")}`,
    );
  return wrong;
}

/**
 * Everything that is wrong.
 * @param {Workflow[]} files
 * @param {Facts} facts
 * @returns {string[]}
 */
export function complaints(files, facts) {
  const workflows = files.map((file) => ({ ...file, ...parse(file.text), name: file.name }));
  return [
    pins,
    inputs,
    images,
    permissions,
    bounds,
    commands,
    targets,
    order,
    failures,
    reaping,
    versions,
  ].flatMap((check) => check(workflows, facts));
}
