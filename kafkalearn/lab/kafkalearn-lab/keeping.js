// What a notebook shows of its widgets outlives their kernel, in the file and on the page; in every notebook, not only in ours.
//
// The widgets' own manager (jupyterlab_widgets 3.0, WidgetManager) writes to the file, at each save, the models that a
// kernel stands behind, and nothing else. On the second day none does, so its first save takes all of them away (ipywidgets
// 3270), and a view whose model is in no file and in no kernel is a line of error, whatever else its output holds.

const VIEW = "application/vnd.jupyter.widget-view+json", STATE = "application/vnd.jupyter.widget-state+json";
const PATIENCE_MS = 10_000; // for a kernel that starts, and for its models

// --- in the file: a state that an output still shows stays, until the model of a kernel takes its place

export function keepStates({ model, ready }) {
  const known = {};

  function shown() {
    const ids = [];
    for (const cell of model.cells) {
      if (cell.type !== "code") continue;
      for (let at = 0; at < cell.outputs.length; at += 1) ids.push(cell.outputs.get(at).data[VIEW]?.model_id);
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
    const widgets = model.getMetadata("widgets"), written = widgets?.[STATE]?.state ?? {};
    const isWhole = (id) => id in written && written[id].state?._view_name !== "ErrorWidgetView"; // its class did not load
    for (const id of Object.keys(written).filter(isWhole)) known[id] = written[id];
    const lost = [...shown()].filter((id) => !isWhole(id));
    if (lost.length === 0) return;
    const state = { ...written, ...Object.fromEntries(lost.map((id) => [id, known[id]])) };
    model.setMetadata("widgets", { ...widgets, [STATE]: { version_major: 2, version_minor: 0, ...widgets?.[STATE], state } });
  }

  ready.then(() => { // whoever writes is answered at once: what is saved is what stands there afterwards
    keep();
    model.metadataChanged.connect(keep);
  });
}

// --- nothing to save: that a kernel names its language, and that models are met again, is no work of the reader's

export function staysClean({ model, ready }) {
  const written = () => {
    const { cells, metadata: { language_info, widgets, ...others } } = model.toJSON();
    return JSON.stringify([cells, others]);
  };
  ready.then(() => {
    const opened = written(); // before anybody could have changed it
    let isUntouched = true;
    model.dirty = false;
    model.stateChanged.connect((_, { name, newValue }) => {
      if (name !== "dirty" || !newValue || !isUntouched) return;
      isUntouched = written() === opened;
      if (isUntouched) model.dirty = false;
    });
  });
}

// --- on the page: where no model comes, the next best of the same output; of a player that is one which needs no kernel

export function standIn(rendermime, sessionContext) {
  const add = rendermime.addFactory.bind(rendermime);
  const watched = (factory) => ({ ...factory, createRenderer: (options) => watch(factory.createRenderer(options), rendermime, sessionContext) });
  rendermime.addFactory = (factory, rank) => add(factory.mimeTypes.includes(VIEW) ? watched(factory) : factory, rank);
  const present = rendermime.getFactory(VIEW); // the manager brings another as soon as there is a kernel
  if (present) rendermime.addFactory(present, -10);
}

function watch(renderer, rendermime, sessionContext) {
  const render = renderer.renderModel.bind(renderer);
  let waits = 0, other = null, drawnFor = "";

  function show(model) {
    const { [VIEW]: view, ...others } = model.data;
    const isThere = renderer.widgets.length > 0 && !renderer.node.querySelector(".jupyter-widgets-error-widget");
    if (renderer.isDisposed || isThere || view.model_id === "" || renderer.node.querySelector(".kl-stand-in")) return;
    const type = rendermime.preferredMimeType(others, model.trusted ? "any" : "ensure");
    if (!type) return;
    renderer.removeClass("jupyter-widgets");
    const isDrawn = drawnFor === view.model_id; // then it stands where the reader has stepped it to
    if (!isDrawn) [other, drawnFor] = [rendermime.createRenderer(type), view.model_id];
    other.addClass("kl-stand-in");
    renderer.node.replaceChildren(other.node); // a model that comes after all empties the node for its view
    if (!isDrawn) other.renderModel(model);
  }

  renderer.renderModel = async (model) => {
    const isAlone = () => sessionContext.isReady && (!sessionContext.session?.kernel || sessionContext.session.kernel.status === "dead");
    clearTimeout(waits);
    waits = setTimeout(show, PATIENCE_MS, model);
    sessionContext.ready.then(() => isAlone() && show(model)); // no manager comes, and `render` never ends
    await render(model);
    if (renderer._rerenderMimeModel) return; // it asks again once it knows the models of the kernel and of the file
    clearTimeout(waits);
    show(model);
  };
  return renderer;
}
