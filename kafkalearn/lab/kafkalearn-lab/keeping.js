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
    Object.assign(known, written);
    const lost = [...shown()].filter((id) => !(id in written));
    if (lost.length === 0) return;
    const state = { ...written, ...Object.fromEntries(lost.map((id) => [id, known[id]])) };
    model.setMetadata("widgets", { ...widgets, [STATE]: { version_major: 2, version_minor: 0, ...widgets?.[STATE], state } });
  }

  ready.then(() => { // whoever writes is answered at once: what is saved is what stands there afterwards
    keep();
    model.metadataChanged.connect(keep);
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

  function show(model) {
    const { [VIEW]: view, ...others } = model.data, isThere = renderer.widgets.length > 0;
    if (renderer.isDisposed || isThere || view.model_id === "" || renderer.node.querySelector(".kl-stand-in")) return;
    const type = rendermime.preferredMimeType(others, model.trusted ? "any" : "ensure");
    if (!type) return;
    const other = rendermime.createRenderer(type); // a model that comes after all empties the node for its view
    other.addClass("kl-stand-in");
    renderer.removeClass("jupyter-widgets");
    renderer.node.replaceChildren(other.node);
    other.renderModel(model);
  }

  renderer.renderModel = async (model) => {
    const isAlone = () => sessionContext.isReady && (!sessionContext.session?.kernel || sessionContext.session.kernel.status === "dead");
    const waits = setTimeout(show, PATIENCE_MS, model);
    sessionContext.ready.then(() => isAlone() && show(model)); // no manager comes, and `render` never ends
    await render(model);
    clearTimeout(waits);
    show(model);
  };
  return renderer;
}
