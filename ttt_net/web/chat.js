/** What is said in a match: a few phrases by a tap, and a line to type. */

import { button, h } from "./dom.js";
import { PHRASES } from "./words.js";

/** @param {import("./main.js").App} app @param {import("./state.js").Match} match */
export function chat(app, match) {
  const say = (what) => app.request("chat", { match: match.match, ...what });
  const send = (event) => {
    event.preventDefault();
    if (app.ui.chatText.trim()) say({ text: app.ui.chatText.trim() });
    app.set({ chatText: "" });
  };
  const whom = match.you === undefined ? "To the other watchers" : "To your opponent";
  return h(
    "details.panel.chat",
    { key: "chat", open: app.isWide || match.chat.length > 0 },
    h("summary", match.chat.length ? `Chat (${match.chat.length})` : "Chat"),
    h("div.lines", { role: "log", label: "Chat" }, h("div", match.chat.map((line) => spoken(app, match, line)))),
    h("div.phrases", Object.entries(PHRASES).map(([phrase, text]) => button(text, () => say({ phrase }), "chip"))),
    app.state.mayType &&
      h(
        "form.row",
        { onsubmit: send },
        h("input", {
          type: "text",
          maxlength: 140,
          value: app.ui.chatText,
          label: whom,
          placeholder: whom,
          oninput: (event) => app.set({ chatText: event.target.value }),
        }),
        h("button", "Send"),
      ),
  );
}

function spoken(app, match, { by, text }) {
  const isMe = by.name === app.state.you?.name;
  const mute = button("mute", () => app.mute(match, by.name), "plain mute", `Mute ${by.name}`);
  return h("p", h("strong", isMe ? "You" : by.name), h("span", text), !isMe && mute);
}
