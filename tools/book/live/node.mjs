// The pages' Python in Node: questions come as lines of JSON, {name, payload}, answers go out as lines.
// Beside them, {code} is run as it stands, and {clock} is answered with the processor time so far.
//   node node.mjs FOLDER    where FOLDER has the parts of the runtime (runtime.parts), and perhaps folders to be seen
//                           by Python as /extra and /tests
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const lockFileContents = JSON.parse(readFileSync(join(folder, "lock.json"), "utf-8"));
const python = await loadPyodide({ indexURL: folder, lockFileContents, stdout: (text) => console.error(text), stderr: (text) => console.error(text) });
python.unpackArchive(new Uint8Array(readFileSync(join(folder, "kafkalearn.zip"))), "zip");
for (const name of ["extra", "tests"]) {
  if (!existsSync(join(folder, name))) continue;
  python.FS.mkdir(`/${name}`);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: join(folder, name) }, `/${name}`);
}
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
const answer = python.runPython("from tools.page import answer; answer");
process.stdout.write('{"started":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { name, payload, code, clock } = JSON.parse(line);
  let text;
  try {
    if (clock) text = JSON.stringify({ result: processorSeconds() });
    else if (code !== undefined) text = JSON.stringify({ result: python.runPython(code) ?? null });
    else text = answer(name, payload);
  } catch (error) {
    text = JSON.stringify({ error: String(error) });
  }
  process.stdout.write(`${text}\n`);
}
