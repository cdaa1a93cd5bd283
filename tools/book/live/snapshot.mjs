// The memory of the pages' Python once kafkalearn is imported in it, for the next start to begin with.
//   node snapshot.mjs FOLDER FILE    where FOLDER has the parts of the runtime (runtime.parts), the core's files in
//                                    core/, and warm.py, whose value is a list in JSON
// To standard output go {imported, hasGrown}: that list, and whether the memory is larger than a page's is at its start.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const lockFileContents = JSON.parse(readFileSync(join(folder, "lock.json"), "utf-8"));
const warm = readFileSync(join(folder, "warm.py"), "utf-8");

// The files are seen where a page unpacks them. Unpacking and compiling would leave their traces in the memory: so a
// first Python compiles, and the second one reads what it has compiled.
async function warmed(options) {
  const python = await loadPyodide({ indexURL: folder, lockFileContents, ...options });
  const size = python._module.HEAP8.length;
  python.FS.mount(python.FS.filesystems.NODEFS, { root: join(folder, "core") }, "/home/pyodide");
  const imported = JSON.parse(python.runPython(warm));
  return { python, imported, hasGrown: python._module.HEAP8.length > size };
}

await warmed({});
const { python, imported, hasGrown } = await warmed({ _makeSnapshot: true });
writeFileSync(file, python.makeMemorySnapshot());
process.stdout.write(JSON.stringify({ imported, hasGrown }));
