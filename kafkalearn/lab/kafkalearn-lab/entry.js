// What JupyterLab loads first of an extension. It shares no packages with JupyterLab and nothing is built: the files
// beside this one are what runs.

(() => {
  const here = document.currentScript.src;
  const beside = (name) => import(new URL(name, here).href);
  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB["kafkalearn-lab"] = {
    init() {},
    async get() {
      await beside("predictions.js");
      const { default: plugin } = await beside("lab.js");
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
