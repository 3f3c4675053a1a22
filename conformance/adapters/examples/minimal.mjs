#!/usr/bin/env node
// The smallest adapter, in Node: it reads the sessions of one store, in lines of JSON, and no more.
//
// The store is a toy: ~/.toy/ID.jsonl has a line for the directory, then one for each thing said.
// Copy this file, and put your own reader in place of `read`. Nothing but Node is needed.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const KINDS = { user: ["UserMessage", "human"], agent: ["AgentMessage", "model"] };

function read(home, sessionId) {
  const text = readFileSync(`${home}/.toy/${sessionId}.jsonl`, "utf8");
  const [head, ...rest] = text.trimEnd().split("\n");
  const messages = rest.map((line, index) => {
    const said = JSON.parse(line);
    const [kind, author] = KINDS[said.who];
    const content = [{ type: "text", text: said.says }];
    return { kind, id: `${sessionId}-${index + 2}`, author, at: said.at, content };
  });
  return { agent: "toy", session_id: sessionId, cwd: JSON.parse(head).cwd, messages };
}

function answer(request) {
  if (request.cmd === "start") {
    const adapter = { name: "minimal-node", version: "1.0", language: "JavaScript" };
    return { reply: "ok", protocol: 1, adapter, stores: { toy: { read: true } } };
  }
  try {
    return { reply: "ok", transcript: read(request.home, request.session_id) };
  } catch (error) {
    if (error.code === "ENOENT") {
      return { reply: "error", stage: "find", message: "there is no such session" };
    }
    return { reply: "error", stage: "read", message: `a line is not whole: ${error.message}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.cmd === "stop") break;
  console.log(JSON.stringify({ seq: request.seq, ...answer(request) }));
}
