// Below an exercise, as in the book: Check, the next hint, the solution. Nothing is typed over, and the cursor stays.
// The kernel has the judge and counts hints; what it says of them stands here, and the cell's output is the verdict.

const OUTCOMES = { "Right.": "right", "Noted.": "right", "Not right yet.": "wrong", "This cannot be checked.": "wrong" };
const { element } = globalThis.kafkalearnPredictions;

// What the kernel prints for a line, without a trace in the notebook.
async function printed(kernel, code) {
  const future = kernel.requestExecute({ code, store_history: false, stop_on_error: false });
  let text = "";
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === "stream") text += content.text;
    if (header.msg_type === "error") text += `${content.ename}: ${content.evalue}`;
  };
  await future.done;
  return text.trim();
}

// `check` runs the cell; `name` is that of a file of progress, "01.same_partition".
export function exerciseBar(cell, name, panel, check) {
  const [chapter, exercise] = name.split("."), shown = element("div", { className: "kl-said-of-exercise" });
  shown.setAttribute("role", "status");
  const button = (words, does) => {
    const made = element("button", { type: "button" }, words);
    made.dataset.lmSuppressShortcuts = "true";
    made.addEventListener("click", does);
    return made;
  };
  async function ask(method, pressed) {
    const kernel = panel.sessionContext.session?.kernel;
    if (!kernel) {
      shown.textContent = "No kernel runs: start one in the menu Kernel, then ask again.";
      return;
    }
    pressed.disabled = true;
    try {
      const text = await printed(kernel, `print(__import__("importlib").import_module("kafkalearn.exercises.chapter${chapter}").${exercise}.${method}())`);
      const { rendermime } = panel.content, renderer = rendermime.createRenderer("text/markdown");
      await renderer.renderModel(rendermime.createModel({ data: { "text/markdown": text }, trusted: false }));
      shown.replaceChildren(renderer.node);
      const [, at, of] = /^Hint (\d+) of (\d+)/.exec(text) ?? [];
      if (at) hint.textContent = at === of ? `Hint ${of} of ${of}` : `Hint ${Number(at) + 1} of ${of}`;
    } finally {
      pressed.disabled = false;
    }
  }
  const hint = button("Hint", () => ask("hint", hint)), solution = button("Solution", () => ask("solution", solution));
  const bar = element("div", { className: "kl-exercise" }, button("Check", check), hint, solution, shown);
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Exercise");
  bar.addEventListener("dblclick", (event) => event.stopPropagation());

  // Red or green is what the last check has said.
  const judge = () => {
    const said = cell.node.querySelector(".jp-OutputArea")?.textContent.trim() ?? "";
    const begun = Object.keys(OUTCOMES).find((each) => said.includes(each));
    if (begun) cell.node.dataset.outcome = OUTCOMES[begun];
    else delete cell.node.dataset.outcome;
  };
  cell.model.outputs.changed.connect(() => setTimeout(judge));
  judge();
  return bar;
}
