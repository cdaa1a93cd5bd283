// What a cell shows: HTML that tools.page.controls has made, and players, which this page draws.

window.kafkalearnOutputs = (() => {
  const PLAYER = "application/x-kafkalearn-player";

  // The model of a player, as anywidget has it. `tell(names, model)` hears what the reader has changed.
  function playerModel(state, tell) {
    const listeners = {}, changed = new Set();
    const model = {
      get: (name) => state[name],
      set(name, value) { state[name] = value; changed.add(name); },
      save_changes() {
        tell([...changed], model);
        changed.clear();
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

  // A player in `host`; `place` is {page, cell, at}. `prepare(say)` makes Python ready for it, where it is not so yet.
  // Values of controls go one after the other; of those that come meanwhile only the last goes.
  function mountPlayer(host, state, place, prepare) {
    const { ask } = window.kafkalearn;
    let isBusy = false, next = null;

    async function turn(model) {
      next = JSON.parse(model.get("_values"));
      if (isBusy) return;
      isBusy = true;
      while (next) {
        const { asked, values } = next;
        next = null;
        const say = (message) => model.put({ _answer: JSON.stringify({ asked, message }) });
        try {
          await prepare(say);
          const { animation, value, message } = await ask("controls.turn", { ...place, values });
          if (message === "") model.put({ value, _animation: animation });
          say(message);
        } catch (error) {
          say(error.message);
        }
      }
      isBusy = false;
    }

    function tell(names, model) {
      if (names.includes("_values")) turn(model);
      else if (names.includes("value") && window.kafkalearn.isStarted) ask("controls.step", { ...place, value: model.get("value") }).catch(() => {});
    }

    host.replaceChildren();
    window.kafkalearnPlayer.render({ model: playerModel(state, tell), el: host });
  }

  // All that a cell shows, in `host`.
  function show(host, outputs, { page, cell }, prepare = async () => {}) {
    let at = 0;
    host.replaceChildren(...outputs.map(({ html = "", shown }) => {
      const made = Object.assign(document.createElement("div"), { className: "live-shown", innerHTML: html });
      if (shown?.[PLAYER]) mountPlayer(made.appendChild(document.createElement("div")), shown[PLAYER], { page, cell, at: at++ }, prepare);
      window.kafkalearnPlayer.mountFilms(made);
      return made;
    }));
    dispatchEvent(new Event("kafkalearn:drawn"));
  }

  return { mountPlayer, show };
})();
