// The editor of code: Ace, read when somebody wants to change something; where it cannot be read, a plain field.
//   window.kafkalearnEditor(place, text, {onRun, onLeave}) -> Promise of {getValue, setValue, focus, on("change", ...)}
// It takes the place of what `place` holds. Shift+Enter runs, Escape leaves.

window.kafkalearnEditor = (() => {
  const folder = new URL("ace/", document.currentScript?.src || location.href).href;
  const FILES = ["ace.js", "mode-python.js", "theme-textmate.js", "theme-tomorrow_night.js"];
  let reading = null;

  function read(name) {
    return new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: folder + name, onload: resolve });
      script.onerror = () => reject(new Error(`live/ace/${name} is not there`));
      document.head.append(script);
    });
  }

  async function readAll() {
    for (const name of window.ace ? [] : FILES) await read(name);
  }

  function plainEditor(place, text, { onRun, onLeave }) {
    const field = Object.assign(document.createElement("textarea"), { value: text, spellcheck: false, className: "live-plain" });
    field.setAttribute("aria-label", "Code");
    field.rows = text.split("\n").length + 1;
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) { event.preventDefault(); onRun(); }
      if (event.key === "Escape") onLeave();
    });
    place.replaceChildren(field);
    return {
      getValue: () => field.value,
      setValue: (value) => { field.value = value; field.dispatchEvent(new Event("input")); },
      focus: () => field.focus(),
      on: (_, heard) => field.addEventListener("input", heard),
    };
  }

  function aceEditor(place, text, { onRun, onLeave }) {
    const host = document.createElement("div");
    host.className = "live-editor";
    host.textContent = text;
    place.replaceChildren(host);
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const editor = window.ace.edit(host, {
      mode: "ace/mode/python", theme: isDark ? "ace/theme/tomorrow_night" : "ace/theme/textmate",
      useWorker: false, maxLines: 60, minLines: 1, fontSize: 13, tabSize: 4, useSoftTabs: true,
      showPrintMargin: false, highlightActiveLine: false, enableKeyboardAccessibility: true,
    });
    editor.textInput.getElement().setAttribute("aria-label", "Code");
    editor.commands.addCommand({ name: "run", bindKey: { win: "Shift-Enter|Ctrl-Enter", mac: "Shift-Enter|Command-Enter" }, exec: onRun });
    editor.commands.addCommand({ name: "leave", bindKey: "Escape", exec: onLeave });
    host.addEventListener("keydown", (event) => event.stopPropagation()); // letters are no keys of players or slides
    return editor;
  }

  return async (place, text, actions) => {
    try {
      await (reading ??= readAll());
    } catch {
      return plainEditor(place, text, actions);
    }
    return aceEditor(place, text, actions);
  };
})();
