// What of the lessons' data is being made beforehand, in JupyterLab's status bar; nothing is there once all is made.
// The server says in the page's settings whether it has anybody to ask: kafkalearn/lab/preparing.py.

const INTERVAL_MS = 3000;

export function sayPreparing(app, element) {
  const settings = JSON.parse(document.getElementById("jupyter-config-data")?.textContent || "{}");
  if (!settings.kafkalearnPreparing) return;
  const { baseUrl, token } = app.serviceManager.serverSettings;
  const said = element("div", { className: "kl-preparing" });
  said.setAttribute("role", "status");

  async function look() {
    const headers = token ? { Authorization: `token ${token}` } : {};
    const answer = await fetch(new URL("kafkalearn/preparing", baseUrl), { headers }).catch(() => null);
    if (!answer?.ok) return said.remove(); // the server is gone
    const { running, lesson, number, of, stopped } = await answer.json();
    if (!running && !stopped) return said.remove();
    document.querySelector("#jp-main-statusbar .jp-StatusBar-Left")?.append(said);
    said.textContent = stopped ? "data for the lessons: not all made" : lesson ? `data for ${lesson}: ${number} of ${of}` : "";
    said.title = stopped ?? "Made in the background, once; a lesson that needs it sooner waits for it";
    if (running) setTimeout(look, INTERVAL_MS);
  }
  app.restored.then(look);
}
