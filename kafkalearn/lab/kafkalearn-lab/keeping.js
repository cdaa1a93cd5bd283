// What a notebook shows of its widgets outlives their kernel, on the page; states.js keeps it in the file.
// In every notebook, not only in ours.

const VIEW = "application/vnd.jupyter.widget-view+json";
const PATIENCE_MS = 10_000; // for a kernel that starts, and for its models

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

// --- a page that is busy: anywidget (0.11, runtime.ts) gives a model two seconds to load its module, and one that needed
// longer hears nothing of its kernel any more. How soon a module is there says nothing about it; what never comes is still told.

const ANYWIDGET_MS = 2_000, BUSY_MS = 120_000;

export function waitForModules() {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const isAsked = (ms) => ms === ANYWIDGET_MS && new Error().stack.includes("/anywidget/");
  AbortSignal.timeout = (ms) => timeout(isAsked(ms) ? BUSY_MS : ms);
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
  const isThere = () => renderer.widgets.length > 0 && !renderer.node.querySelector(".jupyter-widgets-error-widget");
  let waits = 0, other = null, drawnFor = "", asked = null;

  function show(model) {
    const { [VIEW]: view, ...others } = model.data;
    if (renderer.isDisposed || isThere() || view.model_id === "" || renderer.node.querySelector(".kl-stand-in")) return;
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
    asked = model;
    clearTimeout(waits);
    waits = setTimeout(show, PATIENCE_MS, model);
    sessionContext.ready.then(() => isAlone() && show(model)); // no manager comes, and `render` never ends
    await render(model);
    if (renderer._rerenderMimeModel) return; // it asks again once it knows the models of the kernel and of the file
    clearTimeout(waits);
    show(model);
  };

  // A kernel that connects late says what it has before the file is read (WidgetManager._handleKernelConnectionStatusChange):
  // whoever asked in between was told that there is no such model, and the manager does not ask for it again.
  renderer._manager?.promise.then((manager) => manager.restored.connect(() => {
    const id = asked?.data[VIEW]?.model_id;
    if (id && !renderer.isDisposed && !isThere() && !renderer._rerenderMimeModel && manager.has_model(id)) renderer.renderModel(asked);
  }));
  return renderer;
}
