// What a cell shows, drawn from what kafkalearn.page.display says: {printed}, {shown: bundle} or {error}.

window.kafkalearnOutputs = (() => {
  const PLAYER = "application/x-kafkalearn-player";

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // The model of a player, as anywidget has it. `tell(changes)` hears what the reader does, as a Promise of an answer.
  function playerModel(state, tell) {
    const listeners = {};
    const changed = new Set();
    const model = {
      get: (name) => state[name],
      set(name, value) { state[name] = value; changed.add(name); },
      save_changes() {
        const names = [...changed];
        changed.clear();
        tell(names, model);
      },
      on(event, listener) { (listeners[event] ??= new Set()).add(listener); },
      off(event, listener) { listeners[event]?.delete(listener); },
      put(values) { // from Python: the player hears of it
        Object.assign(state, values);
        for (const name in values) listeners[`change:${name}`]?.forEach((each) => each());
      },
    };
    return model;
  }

  // Sends the values of controls one after the other; those that come meanwhile wait, and only the last of them goes.
  function asker(turn) {
    let isBusy = false, next = null;
    return async function ask(model) {
      next = JSON.parse(model.get("_values"));
      if (isBusy) return;
      isBusy = true;
      while (next) {
        const { asked, values } = next;
        next = null;
        const say = (message) => model.put({ _answer: JSON.stringify({ asked, message }) });
        try {
          const { animation, value, message } = await turn(values, say);
          if (message === "") model.put({ value, _animation: animation });
          say(message);
        } catch (error) {
          say(error.message);
        }
      }
      isBusy = false;
    };
  }

  // A player in `host`; `place` is {page, cell, at}. `prepare(say)` makes Python ready for it, where it is not so yet.
  function mountPlayer(host, state, place, prepare) {
    const { ask } = window.kafkalearn;
    const turned = asker(async (values, say) => {
      await prepare(say);
      return ask("controls.turn", { ...place(), values });
    });
    const tell = (names, model) => {
      if (names.includes("_values")) turned(model);
      else if (names.includes("value") && host.isOfPython) ask("controls.step", { ...place(), value: model.get("value") }).catch(() => {});
    };
    host.replaceChildren();
    return window.kafkalearnPlayer.render({ model: playerModel(state, tell), el: host });
  }

  function draw(output, place, prepare) {
    if ("printed" in output) return element("pre", { className: "live-printed", textContent: output.printed });
    if ("error" in output) {
      const { kind, words, line, source } = output.error;
      const where = line ? `Line ${line}${source ? `: ${source}` : ""}` : "";
      return element("div", { className: "live-error" }, element("strong", { textContent: kind }), element("p", { textContent: words }), element("code", { textContent: where }));
    }
    const shown = output.shown, made = element("div", { className: "live-shown" });
    if (shown[PLAYER]) {
      const host = element("div");
      host.isOfPython = true;
      made.append(host);
      mountPlayer(host, shown[PLAYER], place, prepare);
    } else if (shown["text/html"]) made.innerHTML = shown["text/html"];
    else if (shown["image/svg+xml"]) made.innerHTML = shown["image/svg+xml"];
    else if (shown["text/markdown"]) made.append(element("pre", { textContent: shown["text/markdown"] }));
    else made.append(element("pre", { textContent: shown["text/plain"] }));
    if (shown["text/html"]) made.classList.add("jp-RenderedHTMLCommon");
    return made;
  }

  // All that a cell shows, in `host`.
  function show(host, outputs, { page, cell }, prepare = async () => {}) {
    let at = 0;
    host.replaceChildren(...outputs.map((output) => {
      const number = output.shown?.[PLAYER] ? at++ : 0;
      return draw(output, () => ({ page, cell, at: number }), prepare);
    }));
  }

  return { element, mountPlayer, show };
})();
