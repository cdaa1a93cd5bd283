// The pages' Python in Node: questions come as lines of JSON, {name, payload}, answers go out as lines.
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
const answer = python.runPython("from kafkalearn.page import answer; answer");
process.stdout.write('{"started":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { name, payload, code } = JSON.parse(line);
  let text;
  try {
    text = code === undefined ? answer(name, payload) : JSON.stringify({ result: python.runPython(code) ?? null });
  } catch (error) {
    text = JSON.stringify({ error: String(error) });
  }
  process.stdout.write(`${text}\n`);
}
