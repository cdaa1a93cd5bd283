// In a notebook's file, the state of a widget that an output still shows stays, until the model of a kernel takes its place.
//
// The widgets' own manager (jupyterlab_widgets 3.0, WidgetManager) writes to the file, at each save, the models that a
// kernel stands behind, and nothing else; by default it writes none. On the second day none does, so its first save takes
// all of them away (ipywidgets 3270). JupyterLab's side loads this module for every notebook; where it is not there, in a
// Notebook 7 of another environment, each player brings it (kafkalearn.drawing.widgets) and `initialize` is called.

const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json", WIDGET_STATE = "application/vnd.jupyter.widget-state+json";
const { attended, writing } = (globalThis.kafkalearnStates ??= { attended: new WeakSet(), writing: new WeakSet() }); // by file

export function keepStates(context, living = null) {
  const { model, ready } = context;
  if (living && !writing.has(context)) { // JupyterLab's own side may be there with the setting that writes none
    writing.add(context);
    context.saveState.connect((_, phase) => {
      if (phase === "started") model.setMetadata("widgets", { [WIDGET_STATE]: living() });
    });
  }
  if (attended.has(context)) return;
  attended.add(context);
  const known = {};

  function shown() {
    const ids = [];
    for (const cell of model.cells) {
      if (cell.type !== "code") continue;
      for (let at = 0; at < cell.outputs.length; at += 1) ids.push(cell.outputs.get(at).data[WIDGET_VIEW]?.model_id);
    }
    const needed = new Set();
    for (const id of ids) { // with all that it names, and what they name: `ids` grows
      if (!(id in known) || needed.has(id)) continue;
      needed.add(id);
      ids.push(...[...JSON.stringify(known[id]).matchAll(/IPY_MODEL_([\w-]+)/g)].map(([, named]) => named));
    }
    return needed;
  }

  function keep() {
    const widgets = model.getMetadata("widgets"), written = widgets?.[WIDGET_STATE]?.state ?? {};
    const isWhole = (id) => id in written && written[id].state?._view_name !== "ErrorWidgetView"; // its class did not load
    for (const id of Object.keys(written).filter(isWhole)) known[id] = written[id];
    const lost = [...shown()].filter((id) => !isWhole(id));
    if (lost.length === 0) return;
    const state = { ...written, ...Object.fromEntries(lost.map((id) => [id, known[id]])) };
    model.setMetadata("widgets", { ...widgets, [WIDGET_STATE]: { version_major: 2, version_minor: 0, ...widgets?.[WIDGET_STATE], state } });
  }

  ready.then(() => { // whoever writes is answered at once: what is saved is what stands there afterwards
    keep();
    model.metadataChanged.connect(keep);
  });
}

export function initialize({ model: { widget_manager: manager } }) {
  const context = manager?.context; // JupyterLab's and Notebook 7's; elsewhere the file is out of a widget's reach
  if (context?.saveState && context.model?.setMetadata) keepStates(context, () => manager.get_state_sync({ drop_defaults: true }));
}
