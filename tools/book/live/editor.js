// The editor of code, Ace, read when somebody wants to write: for the cells and the exercises of a chapter alike.
//   window.kafkalearnEditor(place, text, label, onRun) -> Promise of an Ace editor, in place of what `place` holds
// Shift+Enter runs. Escape leads out of the text, then Tab goes on; Enter leads in again.

window.kafkalearnEditor = (() => {
  const folder = new URL("ace/", document.currentScript?.src || location.href).href;
  const FILES = ["ace.js", "mode-python.js", "theme-textmate.js", "theme-tomorrow_night.js"];
  let reading = null;

  function read(name) {
    return new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: folder + name, onload: resolve });
      script.onerror = () => reject(new Error(`live/ace/${name} is not beside this page: copy the whole folder of the book`));
      document.head.append(script);
    });
  }

  async function readAll() {
    for (const name of FILES) await read(name);
  }

  return async (place, text, label, onRun) => {
    await (reading ??= readAll());
    const host = Object.assign(document.createElement("div"), { className: "live-editor", textContent: text });
    place.replaceChildren(host);
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const editor = window.ace.edit(host, {
      mode: "ace/mode/python", theme: isDark ? "ace/theme/tomorrow_night" : "ace/theme/textmate",
      useWorker: false, maxLines: 60, minLines: 1, fontFamily: "var(--kl-code)", fontSize: 13, tabSize: 4, useSoftTabs: true, showPrintMargin: false,
      highlightActiveLine: false, showFoldWidgets: false, enableKeyboardAccessibility: true, textInputAriaLabel: label,
    });
    const { scroller, $gutter: gutter } = editor.renderer;
    scroller.setAttribute("aria-label", `${label}: Enter to write, Escape and Tab to go on`);
    gutter.tabIndex = -1; // nothing in it can be pressed
    gutter.setAttribute("aria-hidden", "true");
    editor.commands.addCommand({ name: "run", bindKey: { win: "Shift-Enter|Ctrl-Enter", mac: "Shift-Enter|Command-Enter" }, exec: onRun });
    host.addEventListener("keydown", (event) => event.stopPropagation()); // letters are no keys of players or slides
    return editor;
  };
})();
