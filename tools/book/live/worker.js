// The worker that holds Python. It is given once what it is made of, then asked questions one by one:
//   {parts, snapshot, hasHost} -> {progress: words}..., {started: true} or {failed: words}
//   {id, name, payload}        -> {id, answer: JSON text of tools.page.answer}
// Pages from file: may load nothing, so what Pyodide would fetch is handed to it from the parts.

// Of letters with seven bits each (tools/book/live/septets.py).
function bytesOf(letters) {
  const bytes = new Uint8Array(Math.floor(letters.length * 7 / 8));
  for (let from = 0, to = 0, held = 0, count = 0; from < letters.length; from += 1) {
    held = (held << 7 | letters.charCodeAt(from)) & 0x7fff;
    count += 7;
    if (count >= 8) bytes[to++] = held >> (count -= 8);
  }
  return bytes;
}

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function addressOf(data, type) {
  return URL.createObjectURL(new Blob([data], { type }));
}

async function start({ parts: packed, snapshot, hasHost }) {
  const say = (progress) => postMessage({ progress });
  say("Unpacking Python");
  const memory = snapshot && unpacked(bytesOf(snapshot));
  memory?.catch(() => {}); // it is looked at where it is used
  const names = Object.keys(packed);
  const unpackedParts = await Promise.all(names.map((name) => unpacked(bytesOf(packed[name]))));
  const parts = Object.fromEntries(names.map((name, at) => [name, unpackedParts[at]]));
  const known = {
    "pyodide.asm.mjs": addressOf(parts["pyodide.asm.mjs"], "text/javascript"),
    "pyodide.asm.wasm": addressOf(parts["pyodide.asm.wasm"], "application/wasm"),
    "python_stdlib.zip": addressOf(parts["python_stdlib.zip"], "application/zip"),
  };
  const plainFetch = self.fetch;
  self.fetch = (request, options) => {
    const name = String(request.url ?? request).split("/").pop().split("?")[0];
    return plainFetch(known[name] ?? request, options);
  };
  self.importScripts = () => { throw new Error("this worker loads nothing"); }; // Pyodide tries it; import() it is then
  const { loadPyodide } = await import(addressOf(parts["pyodide.mjs"], "text/javascript"));
  const { default: createPyodideModule } = await import(known["pyodide.asm.mjs"]);
  const lockFileContents = JSON.parse(new TextDecoder().decode(parts["lock.json"]));
  const stdLibURL = known["python_stdlib.zip"];
  const host = hasHost ? {} : { jsglobals: Object.create(null) }; // what Python's module js shows
  const settings = { indexURL: "https://nowhere.invalid/", stdLibURL, createPyodideModule, lockFileContents, ...host };
  const restored = memory && await restore(loadPyodide, settings, parts, memory, say);
  return restored ?? begin(loadPyodide, settings, parts, say);
}

async function begin(loadPyodide, settings, parts, say) {
  say("Starting Python");
  const python = await loadPyodide(settings);
  say("Loading kafkalearn");
  python.unpackArchive(parts["kafkalearn.zip"], "zip");
  return python.runPython("from tools.page import answer; answer");
}

// From memory that was kept (tools/book/live/snapshot.py): Python's modules are in it, files and chance are not.
// Whatever fails, null, and Python starts as ever: the options are Pyodide's private ones.
async function restore(loadPyodide, settings, parts, memory, say) {
  say("Restoring Python");
  try {
    const python = await loadPyodide({ ...settings, _loadSnapshot: await memory });
    python.unpackArchive(parts["kafkalearn.zip"], "zip");
    python.runPython("import importlib, random, sys; sys.path[:] = dict.fromkeys(sys.path); importlib.invalidate_caches(); random.seed()");
    return python.runPython("from tools.page import answer; answer");
  } catch (error) {
    console.warn(`The kept memory of Python is not used: ${error}`);
    return null;
  }
}

let answer = null;
onmessage = async ({ data }) => {
  if (data.parts) {
    try {
      answer = await start(data);
      postMessage({ started: true });
    } catch (error) {
      postMessage({ failed: String(error) });
    }
  } else {
    let text;
    try {
      text = answer(data.name, data.payload);
    } catch (error) { // no Python error comes this far: memory ended, or the stack
      text = JSON.stringify({ error: `Python ended: ${String(error).trim().split("\n").at(-1)}`, isOver: true });
    }
    postMessage({ id: data.id, answer: text });
  }
};
