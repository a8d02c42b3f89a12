// A host for skills in 60 lines: it drives `prowess session` over JSON lines.  node host.mjs SKILLS CSV
import { spawn } from "node:child_process";
import { dirname, basename, resolve } from "node:path";
import { createInterface } from "node:readline";

const [skills, csv] = process.argv.slice(2);
if (!skills || !csv) {
  console.error("usage: node host.mjs SKILLS_DIRECTORY FILE.csv");
  process.exit(2);
}
const options = ["--root", skills, "--workspace", dirname(resolve(csv)), "--tools", "read,write", "--write", "--events"];
const session = spawn("prowess", ["session", ...options], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map(); // id -> what to do with the answer
let lastId = 0;

createInterface({ input: session.stdout }).on("line", (line) => {
  const { id, event, ...answer } = JSON.parse(line);
  if (event) return console.log(`  event ${event.sequence}: ${event.kind} ${event.message ?? event.tool ?? event.path ?? ""}`.trimEnd());
  waiting.get(id)?.resolve(answer);
  waiting.delete(id);
});
const ended = new Promise((done) => session.on("close", done));
session.on("error", (fault) => fail(`prowess cannot be started: ${fault.message}`));
session.on("close", (code) => waiting.size && fail(`the session ended with status ${code}`));
session.stdin.on("error", () => {}); // said by `close`

function fail(why) {
  console.error(why);
  process.exit(1);
}
function ask(request) {
  const id = ++lastId;
  session.stdin.write(JSON.stringify({ id, ...request }) + "\n");
  return new Promise((resolve) => waiting.set(id, { resolve }));
}
const method = (name, args = {}) => ask({ method: name, arguments: args });
async function call(tool, args) {
  const answer = await ask({ tool, arguments: args });
  if (answer.error_detail?.code !== "approval_required") return answer;
  // Here a real host asks its user. This one says yes to a report and to nothing else.
  const decision = args.file_path?.endsWith("report.md") ? "allow" : "deny";
  console.log(`decided: ${decision} ${tool} ${args.file_path}`);
  await method("approve", { request: answer.error_detail.request, decision });
  return (await ask({ tool, arguments: args }));
}
const show = (what, answer) => console.log(`${what}: ${answer.success ? "ok" : answer.error}`);

const listed = await method("instructions");
console.log("skills:", [...listed.result.instructions.matchAll(/<name>(.*?)<\/name>/g)].map((found) => found[1]).join(" "));
show("load", await call("skills.load", { names: ["csv-report"] }));
show("read", await call("skills.read", { path: "references/NUMBERS.md", limit: 200 }));
const run = await call("skills.run_script", { path: "scripts/report.py", args: [basename(csv)] });
show("run", run);
if (run.success) console.log(run.result.stdout.trimEnd());
show("unload", await call("skills.unload", { all: true }));
show("write", await call("Write", { file_path: "report.md", content: run.result?.stdout ?? "nothing" }));
show("write", await call("Write", { file_path: "other.md", content: "no" }));
session.stdin.end();
process.exitCode = await ended;
