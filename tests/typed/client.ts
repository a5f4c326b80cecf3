/** A client with the types that are generated from the published schemas: it plays one match at random. */

import type { Request } from "./requests.js";
import type { ServerMessage } from "./server-messages.js";

declare const process: { argv: string[]; exit(code: number): never };

type Of<Union, Type> = Extract<Union, { type: Type }>;
type Fields<Message> = Message extends unknown ? Omit<Message, "id"> : never;

const [url, name] = process.argv.slice(2) as [string, string];
const socket = new WebSocket(url);
let lastId = 0;
let match: Of<ServerMessage, "snapshot"> | undefined;

function say(request: Fields<Request>): void {
  socket.send(JSON.stringify({ ...request, id: ++lastId }));
}

function think(): void {
  if (!match || match.position.to_move !== match.you) return;
  const { legal, ply } = match.position;
  const move = legal[Math.floor(Math.random() * legal.length)];
  if (move !== undefined) say({ type: "play", match: match.match, ply, move });
}

function hear(message: ServerMessage): void {
  switch (message.type) {
    case "welcome":
      return say({ type: "seek", games: ["connect4"] });
    case "snapshot":
      match = message;
      return think();
    case "played":
      if (match && message.position) match.position = message.position;
      return think();
    case "ended": {
      const [first, second] = match?.players ?? [];
      console.log(message.winner === match?.you ? "won" : "lost or drawn", first?.name, second?.name);
      return socket.close(1000);
    }
    case "refused":
      console.error(message.code, message.message);
      process.exit(1);
  }
}

socket.onopen = () => say({ type: "hello", protocols: [1], name, bot: "typed" });
socket.onmessage = ({ data }) => hear(JSON.parse(data as string) as ServerMessage);
