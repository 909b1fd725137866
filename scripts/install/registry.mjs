// A registry of npm for the install tests, on this machine alone: it has the packages that were packed, and no others.
// What else is asked for is answered with 404 and kept, so that a test can say that nothing was.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { posix } from "node:path";
import { readTarball } from "../tarball.mjs";

/** @typedef {{ name: string, version: string, manifest: Record<string, unknown>, bytes: Buffer }} Published */

/** Before any age that a package manager may ask of a version. */
const PUBLISHED = "2024-01-01T00:00:00.000Z";

/**
 * What a tarball is published as.
 * @param {string} tarball
 * @returns {Published}
 */
function published(tarball) {
  const entry = readTarball(tarball).find(({ path }) => path === "package.json");
  const manifest = JSON.parse(String(entry?.data));
  return { name: manifest.name, version: manifest.version, manifest, bytes: readFileSync(tarball) };
}

/** @param {string} algorithm @param {Buffer} bytes @param {"base64" | "hex"} encoding */
function digest(algorithm, bytes, encoding) {
  return createHash(algorithm).update(bytes).digest(encoding);
}

/**
 * What the registry says of a package.
 * @param {string} name
 * @param {Published[]} versions the newest last
 * @param {string} url
 */
function packument(name, versions, url) {
  const described = versions.map(({ version, manifest, bytes }) => [
    version,
    {
      ...manifest,
      _id: `${name}@${version}`,
      dist: {
        tarball: `${url}/${name}/-/${name}-${version}.tgz`,
        integrity: `sha512-${digest("sha512", bytes, "base64")}`,
        shasum: digest("sha1", bytes, "hex"),
      },
    },
  ]);
  const times = versions.map(({ version }) => [version, PUBLISHED]);
  return {
    _id: name,
    name,
    "dist-tags": { latest: versions.at(-1)?.version },
    versions: Object.fromEntries(described),
    time: { created: PUBLISHED, modified: PUBLISHED, ...Object.fromEntries(times) },
  };
}

/**
 * Start a registry. Of two tarballs of one package the later one is the latest version.
 * @param {string[]} tarballs
 */
export async function startRegistry(tarballs) {
  /** @type {Map<string, Published[]>} */
  const packages = new Map();
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  for (const one of tarballs.map(published)) {
    packages.set(one.name, [...(packages.get(one.name) ?? []), one]);
    files.set(`/${one.name}/-/${one.name}-${one.version}.tgz`, one.bytes);
  }
  /** @type {string[]} */
  const unknown = [];
  /** @type {string[]} */
  const fetched = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    const versions = packages.get(decodeURIComponent(pathname.slice(1)));
    const file = files.get(pathname);
    if (request.method === "GET" && versions?.[0] !== undefined) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(packument(versions[0].name, versions, url)));
    } else if (request.method === "GET" && file !== undefined) {
      fetched.push(posix.basename(pathname));
      response.setHeader("content-type", "application/octet-stream");
      response.end(file);
    } else {
      unknown.push(`${request.method} ${request.url}`);
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
    }
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", () => resolve(undefined));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the registry has no port");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    /** The tarballs that were fetched, by name. */
    fetched,
    /** What was asked for that is not there. */
    unknown,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
