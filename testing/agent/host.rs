//! Takes the part of an MCP host, as the agent does for a model that calls a tool: starts the server that the
//! workspace's `.cursor/mcp.json` names, calls, and tells of it in the stream.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::Instant;

use serde_json::{Value, json};

use crate::codec::{quoted, uuid};
use crate::echo;
use crate::play::{End, POLL, Player, emit, now, put};
use crate::step::{CallTools, Stream};

/// How the keys of Fusion's own servers begin.
const OWN: &str = "fusion-custom-tools-";
const NEWEST: &str = "2025-11-25";

/// Plays the step: one server for all of its calls, which is gone when this returns.
pub(crate) fn play(player: &Player<'_>, step: &CallTools) -> Result<(), End> {
    let wanted = step.server.as_ref().map(|name| player.text(name));
    let (name, entry) = configured(wanted.as_deref()).map_err(|what| failed("mcp.json", what))?;
    let mut server =
        Server::start(&entry, Instant::now() + step.limit).map_err(|what| failed(&name, what))?;
    let done = converse(player, step, &name, &mut server);
    let exit = server.leave();
    let (greeting, tools, answers) = done?;
    let exit = exit.map_err(|what| failed(&name, what))?;
    if let Some(path) = &step.report {
        let report = json!({
            "server": name, "pid": server.pid, "initialize": greeting, "tools": tools, "answers": answers, "exit": exit,
        });
        put(&player.path(path), format!("{report}\n").as_bytes())?;
    }
    Ok(())
}

fn failed(what: impl Display, why: impl Display) -> End {
    End::Failed(format!("{what}: {why}"))
}

/// The name and entry of a server in the workspace's config; without a name, of the only one that is Fusion's.
fn configured(wanted: Option<&str>) -> Result<(String, Value), String> {
    let path = format!("{}/.cursor/mcp.json", echo::cwd());
    let text = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let config: Value = serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))?;
    let servers = config["mcpServers"]
        .as_object()
        .ok_or_else(|| format!("{path}: no mcpServers"))?;
    let found: Vec<_> = servers
        .iter()
        .filter(|(name, _)| wanted.map_or(name.starts_with(OWN), |wanted| wanted == *name))
        .collect();
    match (found.as_slice(), wanted) {
        (&[(name, entry)], _) => Ok((name.clone(), entry.clone())),
        (_, Some(wanted)) => Err(format!("{path}: no server '{wanted}'")),
        (found, None) => Err(format!("{path}: {} servers '{OWN}…', not one", found.len())),
    }
}

type Conversation = (Value, Value, Vec<Value>);

fn converse(
    player: &Player<'_>,
    step: &CallTools,
    name: &str,
    server: &mut Server,
) -> Result<Conversation, End> {
    let protocol = step
        .protocol
        .as_ref()
        .map_or_else(|| NEWEST.to_owned(), |version| player.text(version));
    let hello = format!(
        r#"{{"protocolVersion":{},"capabilities":{{}},"clientInfo":{{"name":"fusion-cursor-stand-in","version":"1"}}}}"#,
        quoted(&protocol)
    );
    let greeting = server
        .ask("initialize", &hello)
        .map_err(|what| failed(name, what))?;
    server.tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let tools = server
        .ask("tools/list", "{}")
        .map_err(|what| failed(name, what))?;

    let mut answers = Vec::new();
    let mut open = Vec::new();
    for call in &step.calls {
        let (tool, id) = (player.text(&call.tool), uuid());
        let arguments = call
            .arguments
            .as_ref()
            .map_or_else(|| "{}".to_owned(), |args| player.text(args));
        let args = format!(
            r#"{{"name":{},"args":{arguments},"toolCallId":{},"providerIdentifier":{},"toolName":{},"serverIdentifier":{}}}"#,
            quoted(&format!("{name}-{tool}")),
            quoted(&id),
            quoted(name),
            quoted(&tool),
            quoted(name),
        );
        record(player, "started", &id, &format!(r#"{{"args":{args}}}"#))?;
        let request = server.request(
            "tools/call",
            &format!(r#"{{"name":{},"arguments":{arguments}}}"#, quoted(&tool)),
        );
        open.push((request, id));
        if !step.parallel {
            settle(player, name, server, &mut open, &mut answers)?;
        }
    }
    settle(player, name, server, &mut open, &mut answers)?;
    Ok((
        greeting["result"].clone(),
        tools["result"]["tools"].clone(),
        answers,
    ))
}

/// Waits for the answers to all open calls, and tells of each as it comes.
fn settle(
    player: &Player<'_>,
    name: &str,
    server: &mut Server,
    open: &mut Vec<(u64, String)>,
    answers: &mut Vec<Value>,
) -> Result<(), End> {
    while !open.is_empty() {
        let (id, answer) = match server.next().map_err(|what| failed(name, what))? {
            Some(answer) => {
                let at = open.iter().position(|(request, _)| answer["id"] == *request);
                let Some(at) = at else { continue };
                (open.swap_remove(at).1, answer)
            }
            // As the agent has it: the call has failed, and the turn goes on.
            None => (
                open.swap_remove(0).1,
                json!({ "error": { "message": "Connection closed" } }),
            ),
        };
        let result = shown(&answer);
        record(player, "completed", &id, &format!(r#"{{"result":{result}}}"#))?;
        answers.push(answer);
    }
    Ok(())
}

/// An answer as the stream has it.
fn shown(answer: &Value) -> Value {
    let Some(result) = answer.get("result") else {
        return json!({ "error": { "error": answer["error"]["message"] } });
    };
    let content: Vec<Value> = result["content"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            let kind = entry["type"].as_str().unwrap_or("unknown");
            let mut fields: BTreeMap<&str, &Value> = BTreeMap::new();
            for (key, value) in entry.as_object().into_iter().flatten() {
                if key != "type" {
                    fields.insert(key, value);
                }
            }
            json!({ kind: fields })
        })
        .collect();
    let is_error = result["isError"] == true;
    json!({ "success": { "content": content, "isError": is_error } })
}

fn record(player: &Player<'_>, subtype: &str, id: &str, body: &str) -> Result<(), End> {
    let line = format!(
        r#"{{"type":"tool_call","subtype":"{subtype}","call_id":{},"tool_call":{{"mcpToolCall":{body}}},"session_id":{},"timestamp_ms":{}}}"#,
        quoted(id),
        quoted(&player.context.session),
        now(),
    );
    emit(Stream::Stdout, format!("{line}\n").as_bytes())
}

/// A server that runs.
struct Server {
    child: Child,
    pid: u32,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    deadline: Instant,
}

impl Server {
    fn start(entry: &Value, deadline: Instant) -> Result<Self, String> {
        let command = entry["command"].as_str().ok_or("no command")?;
        let texts = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut child = Command::new(command)
            .args(entry["args"].as_array().into_iter().flatten().map(texts))
            .envs(
                entry["env"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name, texts(value))),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command}: {error}"))?;
        let (sender, lines) = channel();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        // In a thread of its own, so that the reading has a limit. It ends with the server.
        std::thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()) {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let pid = child.id();
        Ok(Self {
            child,
            pid,
            stdin,
            lines,
            next_id: 0,
            deadline,
        })
    }

    /// A server that has ended shows by its silence.
    fn tell(&mut self, message: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(format!("{message}\n").as_bytes());
        }
    }

    fn request(&mut self, method: &str, params: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.tell(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ));
        id
    }

    fn ask(&mut self, method: &str, params: &str) -> Result<Value, String> {
        let id = self.request(method, params);
        loop {
            let answer = self.next()?.ok_or_else(|| format!("ended before {method}"))?;
            if answer["id"] == id {
                return match answer.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(answer),
                };
            }
        }
    }

    /// The next message; `None` when the server has ended.
    fn next(&mut self) -> Result<Option<Value>, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| format!("wrote what is no JSON: {error}")),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err("no answer within the limit".to_owned()),
        }
    }

    /// Closes its stdin, upon which it has to end; gives its exit code, null where a signal ended it.
    fn leave(&mut self) -> Result<Value, String> {
        drop(self.stdin.take());
        let patience = Instant::now() + std::time::Duration::from_secs(10);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status.code().into()),
                Ok(None) if Instant::now() < patience => sleep(POLL),
                other => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Err(match other {
                        Err(error) => error.to_string(),
                        Ok(_) => "did not end with its stdin".to_owned(),
                    });
                }
            }
        }
    }
}
