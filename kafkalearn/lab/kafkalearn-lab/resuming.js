// A new kernel knows nothing of what the chapter shows: one bar says so, and runs what was run before, on one press.
//   resuming(panel, execute, Widget) -> {begun(cell), offer(id), update(), isMoving}
// `begun` is told of each cell that the kernel begins; `offer` says whether a command that runs one cell has to wait;
// `isMoving` that another cell is active for no longer than JupyterLab's own command needs to know where to end.

const { element } = globalThis.kafkalearnPredictions; // predictions.js, as the book's pages have it
const NEW = "Python has started anew and knows nothing of what was run here before.";

// What JupyterLab has written down of a run (setting recordTiming), in seconds; undefined where it has not.
function secondsOf(cell) {
  const times = cell.model.getMetadata("execution") ?? {};
  const begun = Date.parse(times["iopub.execute_input"] ?? times["iopub.status.busy"]), done = Date.parse(times["shell.execute_reply"]);
  return done >= begun ? (done - begun) / 1000 : undefined;
}

export function resuming(panel, execute, Widget) {
  const notebook = panel.content, session = panel.sessionContext;
  const said = element("span"), run = element("button", { type: "button" }), rest = element("button", { type: "button" });
  said.setAttribute("role", "status");
  const bar = new Widget({ node: element("div", { className: "kl-resume" }, said, run, rest) });
  bar.hide();
  panel.contentHeader.addWidget(bar);
  let owed = new Map(); // what an earlier kernel has run and this one has not: each cell, with its seconds
  let waiting = null; // the command that ran on to the place, and was held
  let underWay = 0, begunCount = 0, isMoving = false, looked = null; // the kernel that was asked

  const isCode = (cell) => cell.model.type === "code";
  const isOwed = (cell) => owed.has(cell) && !cell.isDisposed;
  function wanted() { // where one stands, or, from above all that was run, where it ends
    const cells = notebook.widgets, last = cells.findLastIndex(isOwed), at = notebook.activeCellIndex;
    return cells.slice(0, at).some(isOwed) ? at : last < 0 ? 0 : last + 1;
  }

  function update() {
    const to = wanted(), above = notebook.widgets.slice(0, to), isBusy = notebook.widgets.some((each) => each.model.executionState === "running");
    bar.setHidden(!underWay && (isBusy || !above.some(isOwed)));
    if (bar.isHidden) waiting = null;
    run.hidden = rest.hidden = underWay > 0;
    if (underWay) {
      said.textContent = `What is above runs: cell ${Math.max(1, begunCount)} of ${underWay}.`;
      return;
    }
    const known = above.map((each) => owed.get(each)).filter((each) => each !== undefined);
    const seconds = Math.max(1, Math.round(known.reduce((sum, each) => sum + each, 0)));
    said.textContent = waiting ? `First what is above: ${NEW}` : NEW;
    run.textContent = `Run what ${to === notebook.activeCellIndex ? "is above" : "was run"}${known.length ? ` (about ${seconds} s)` : ""}`;
    rest.textContent = waiting ? "Only this cell" : "Not now";
    bar.toggleClass("kl-asked", waiting !== null);
  }

  run.addEventListener("click", async () => {
    const at = notebook.activeCellIndex, to = wanted(), then = waiting;
    waiting = null;
    begunCount = 0;
    underWay = notebook.widgets.slice(0, to).filter(isCode).length;
    notebook.node.focus({ preventScroll: true });
    isMoving = true;
    notebook.activeCellIndex = to;
    const running = execute(to < notebook.widgets.length ? "notebook:run-all-above" : "notebook:run-all-cells");
    notebook.activeCellIndex = at;
    isMoving = false;
    update();
    const isDone = await running;
    underWay = 0;
    if (isDone === true) owed.clear();
    update();
    if (isDone === true && then) await execute(then);
  });

  rest.addEventListener("click", () => {
    const then = waiting;
    owed.clear();
    update();
    notebook.node.focus({ preventScroll: true });
    if (then) execute(then);
  });

  // --- whether a kernel is new: it has run no cell at all

  function isNew() {
    owed = new Map(notebook.widgets.filter((each) => isCode(each) && each.model.executionCount !== null).map((each) => [each, secondsOf(each)]));
    waiting = null;
    update();
  }

  async function look() {
    const kernel = session.session?.kernel;
    if (!kernel || kernel.id === looked) return; // restarted, it is the same one: its status has said so
    looked = kernel.id;
    const { content } = await kernel.requestExecute({ code: "", silent: true, store_history: false, allow_stdin: false }).done;
    if (kernel.id !== looked) return;
    if (content.execution_count === 0) return isNew();
    owed.clear();
    update();
  }

  session.kernelChanged.connect(look);
  session.statusChanged.connect((_, status) => {
    if (status === "restarting" || status === "autorestarting") isNew();
  });
  session.ready.then(look);
  notebook.activeCellChanged.connect(() => {
    if (isMoving) return;
    waiting = null;
    update();
  });

  return {
    update,
    get isMoving() { return isMoving; },
    begun(cell) {
      owed.delete(cell);
      begunCount += 1;
      update();
    },
    offer(id) { // who runs on at the place where he stopped is asked first
      if (bar.isHidden || underWay || !isCode(notebook.activeCell) || wanted() !== notebook.activeCellIndex) return false;
      waiting = id;
      update();
      run.focus();
      return true;
    },
  };
}
