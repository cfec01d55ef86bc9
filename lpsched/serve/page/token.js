// The box that asks for the token of the server.
import { onToken } from "./api.js";
import { byId } from "./dom.js";

const ASKED = "This server answers only with a token. Its operator has it. It is kept until this tab is closed.";
const WRONG = "The server rejected this token. Its operator has the right one.";

function ask(isWrong) {
  const box = byId("token-dialog");
  const input = byId("token");
  byId("token-note").textContent = isWrong ? WRONG : ASKED;
  input.value = "";
  box.showModal();
  return new Promise((resolve) => {
    byId("token-form").addEventListener("submit", () => resolve(input.value.trim()), { once: true });
  });
}

export function prepareToken() {
  onToken(ask);
  byId("token-dialog").addEventListener("cancel", (event) => event.preventDefault()); // nothing works without it
}
