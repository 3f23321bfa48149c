// A bot for TowerWars that plays random legal moves: all that a client of a TriArena server needs, in one file.
// It was written from docs/protocol.md alone; begin your own by replacing chooseMove().
//
//   npm install
//   node bot.js --host 127.0.0.1 --port 13055 --name Jay
//   node bot.js --reservation CODE
//
// Exit code 0: the match ended, won or lost; 3: lost by a fault of this bot; 1: no match; 2: wrong use.

import net from "node:net";
import { parseArgs } from "node:util";
import { decode, encode } from "@msgpack/msgpack";

// -- the rules of TowerWars: which moves are legal ------------------------------------------------

const SIDES = { r: "red", b: "blue" };

// Every field of a position by its name ("A1"): where it lies, and what stands there.
function readBoard(position) {
  const fields = [];
  position.board.split(" ")[0].split("/").forEach((row, y) => {
    row.match(/\.|[RB]|[rb](\d+x?)?/g).forEach((piece, x) => {
      fields.push({
        name: String.fromCharCode(65 + x) + (y + 1),
        x,
        y,
        side: SIDES[piece[0].toLowerCase()], // undefined where the field is empty
        base: piece === "R" || piece === "B",
        height: parseInt(piece.slice(1), 10) || 0, // 0 is a stone, or nothing
        blocked: piece.endsWith("x"),
      });
    });
  });
  return fields;
}

function distance(a, b) {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  return (Math.abs(dx) + Math.abs(dy) + Math.abs(dx + dy)) / 2;
}

function legalMoves(position) {
  const board = readBoard(position);
  const highest = Math.floor(position.size / 3);
  const mine = board.filter((field) => field.side === position.to_move && !field.base && !field.blocked);
  const towers = mine.filter((field) => field.height > 0);
  return mine.flatMap((start) => {
    const isTower = start.height > 0; // then only its top stone moves, by one step
    const bonus = towers.filter((tower) => distance(start, tower) === 1).reduce((sum, tower) => sum + tower.height, 0);
    const range = isTower ? 1 : 1 + bonus;
    return board
      .filter((target) => target !== start && distance(start, target) <= range)
      .filter((target) => mayLand(start, target, isTower, highest))
      .map((target) => ({ type: "step", start: start.name, target: target.name }));
  });
}

function mayLand(start, target, isTower, highest) {
  if (target.side === undefined) return true;
  if (target.side === start.side) return !target.base && (target.blocked || target.height < highest);
  if (isTower) return false;
  return !target.blocked || distance(start, target) === 1;
}

// -- the bot --------------------------------------------------------------------------------------

function chooseMove(position) {
  const moves = legalMoves(position);
  return moves[Math.floor(Math.random() * moves.length)];
}

// -- the client -----------------------------------------------------------------------------------

// A frame: 4 bytes of length, big-endian, and a msgpack map; both in one write.
function frame(message) {
  const payload = encode(message, { ignoreUndefined: true }); // what is absent is left out
  const bytes = Buffer.alloc(4 + payload.length);
  bytes.writeUInt32BE(payload.length);
  bytes.set(payload, 4);
  return bytes;
}

// Calls `hear` with every message in what the socket brings, however the bytes are cut.
function frameReader(hear) {
  let buffer = Buffer.alloc(0);
  return (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    while (buffer.length >= 4 && buffer.length >= 4 + buffer.readUInt32BE()) {
      const end = 4 + buffer.readUInt32BE();
      const payload = buffer.subarray(4, end);
      buffer = buffer.subarray(end);
      hear(decode(payload));
    }
  };
}

function finish(code, sentence) {
  (code === 0 ? console.log : console.error)(sentence);
  process.exit(code);
}

// Codes of a server that may have time, room or a new process for us a little later; and of a seat or code that is held
// by our own lost connection, until the server has noticed that.
const PASSING = ["server_stopping", "server_busy", "server_full", "address_full", "stalled", "reservation_used"];
const PATIENCE_MS = 600_000;

// One connection. `seat` outlives it: the token that takes the seat back, and how long that has been tried.
function play(options, seat = { pause: 100 }) {
  const { host, port, game, reservation, name } = options;
  const socket = net.connect(Number(port), host);
  const say = (message) => socket.write(frame(message));
  let why = "the stream ended";
  socket.setNoDelay(true); // without it every answer may wait for 40 ms
  socket.on("connect", () => say({ type: "hello", protocol: 1, software: "triarena-example-bot (javascript)", name }));
  socket.on("error", (error) => (why = error.message));
  // The end of the stream is not the end of the match, only match_over is: come back, after pauses that grow.
  socket.on("close", () => {
    if (!seat.greeted) finish(1, `cannot talk to ${host} port ${port}: ${why}; is a server there?`);
    seat.lostAt ??= Date.now();
    if (Date.now() - seat.lostAt > PATIENCE_MS) finish(1, `the connection was lost and did not come back: ${why}`);
    // Told once, however often we try.
    if (!seat.told) console.error(`${seat.token ? "connection lost" : "no way in"}: ${why}; trying again ...`);
    seat.told = true;
    setTimeout(() => play(options, seat), seat.pause * (0.5 + Math.random() / 2));
    seat.pause = Math.min(2 * seat.pause, 2000);
  });
  const hangUp = (code, message) => {
    if (!PASSING.includes(code)) finish(1, `[${code}] ${message}`);
    why = message;
    socket.destroy(); // then "close" follows
  };
  const join = () => say(reservation ? { type: "join_reserved", reservation } : { type: "join", game });
  const answers = {
    welcome: ({ heartbeat_seconds }) => {
      seat.greeted = true;
      socket.setTimeout(3000 * heartbeat_seconds, () => socket.destroy()); // a server that lives pings before that
      seat.token ? say({ type: "rejoin", token: seat.token }) : join();
    },
    joined: (message) => {
      seat.told = false;
      if (message.game !== "towerwars") finish(1, `this seat is for ${message.game}; this bot plays towerwars only`);
      if (message.token !== seat.token) console.log(`joined room ${message.room} as ${message.side}`);
      Object.assign(seat, { token: message.token, side: message.side });
    },
    match_started: (message) => {
      if (message.match === seat.match) console.error("back in the match");
      else console.log(`match ${message.match}: ${message.players.red} (red) against ${message.players.blue} (blue)`);
      seat.match = message.match;
      say({ type: "ready", room: message.room });
    },
    your_turn: ({ room, ply, position }) => say({ type: "move", room, ply, move: chooseMove(position) }),
    moved: () => Object.assign(seat, { lostAt: undefined, pause: 100 }), // it goes on: patience begins anew
    match_over: ({ result }) => {
      const how = `${result.kind}, ${result.reason}: ${result.winner ?? "nobody"} won; ${result.detail.message}`;
      finish(result.kind === "forfeit" && result.detail.offenders.includes(seat.side) ? 3 : 0, how);
    },
    ping: ({ number }) => say({ type: "pong", number }),
    notice: ({ code, message }) => console.error(`notice [${code}] ${message}`),
    error: ({ code, message, request }) => {
      if (code === "unknown_token" && !seat.match) return join(); // the match had not begun: take a seat as at first
      if (request) return hangUp(code, message); // without a seat there is nothing to do
      console.error(`error [${code}] ${message}`);
    },
    refused: ({ code, message }) => hangUp(code, message),
    goodbye: ({ code, message }) => hangUp(code, message),
  };
  // What is not in the list is ignored: a newer server may say more.
  socket.on("data", frameReader((message) => Object.hasOwn(answers, message.type) && answers[message.type](message)));
}

const options = {
  host: { type: "string", default: "127.0.0.1" },
  port: { type: "string", default: "13055" },
  game: { type: "string", default: "towerwars" },
  reservation: { type: "string" },
  name: { type: "string" },
};
try {
  const { values } = parseArgs({ options });
  if (values.game !== "towerwars") finish(2, `this bot plays towerwars, not ${values.game}`);
  play(values);
} catch (error) {
  finish(2, error.message);
}
