//! What must hold of a config, whatever it holds; and configs made from bytes, for a fuzzer or a property test to
//! choose.

use fusion_cursor_native::mcp::compose::{Refusal, compose, decode, look, seek_fusion_keys, strip};
use fusion_cursor_native::mcp::manifest::ServerEntry;

/// The bytes are a config, and then choices that make one.
pub(crate) fn config(data: &[u8]) {
    holds(data);
    holds(document(data).as_bytes());
}

pub(crate) fn entry(number: usize) -> (String, ServerEntry) {
    let key = format!("fusion-custom-tools-{number}");
    let args = vec!["C:\\a b".to_owned(), "\"é\u{1}".to_owned()];
    let env = [("TOKEN".to_owned(), number.to_string())];
    let env = env.into_iter().take(number % 3).collect();
    (key, ServerEntry::new("node".to_owned(), args, env))
}

fn composed(text: &str, entries: &[(String, ServerEntry)], had_servers: bool) -> String {
    let entries: Vec<_> = entries.iter().map(|(key, entry)| (key.as_str(), entry)).collect();
    compose(Some(text), &entries, had_servers).unwrap_or_else(|refusal| panic!("it was looked at: {refusal}"))
}

fn stripped(text: &str, had_servers: bool) -> String {
    strip(text, had_servers).unwrap_or_else(|refusal| panic!("it was looked at: {refusal}"))
}

fn keys(text: &str) -> Vec<String> {
    let config = look(text.as_bytes());
    let mut keys = config.map_or_else(
        |refusal| panic!("{refusal}: {text:?}"),
        |config| config.fusion_keys,
    );
    keys.sort();
    keys
}

/// All that must hold of one config.
pub(crate) fn holds(bytes: &[u8]) {
    let sets = [
        vec![entry(1)],
        vec![entry(1), entry(2), entry(3)],
        vec![entry(4), entry(2)],
        vec![],
    ];
    let config = match look(bytes) {
        Ok(config) => config,
        Err(refusal) => return refused(bytes, &refusal),
    };
    let text = decode(bytes).unwrap_or_default();
    let had = config.has_servers;
    let clean = stripped(text, had);
    assert!(keys(&clean).is_empty());
    assert_eq!(strip(&clean, had).as_deref(), Ok(clean.as_str()), "twice is once");
    if config.fusion_keys.is_empty() {
        assert_eq!(clean, text, "there was nothing to take out");
    }
    assert!(!had || look(clean.as_bytes()).is_ok_and(|clean| clean.has_servers));
    for first in &sets {
        let one = composed(&clean, first, had);
        assert_eq!(strip(&one, had).as_deref(), Ok(clean.as_str()), "{one:?}");
        for second in &sets {
            let two = composed(&one, second, had);
            let expected: Vec<&String> = second.iter().map(|(key, _)| key).collect();
            let mut found = keys(&two);
            found.sort_by_key(|key| expected.iter().position(|name| *name == key));
            assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            assert_eq!(composed(&two, second, had), two, "twice is once");
            assert_eq!(strip(&two, had).as_deref(), Ok(clean.as_str()), "{two:?}");
        }
        let dirty = composed(text, first, had);
        assert_eq!(keys(&dirty).len(), first.len());
        assert!(keys(&stripped(&dirty, had)).is_empty());
    }
}

fn refused(bytes: &[u8], refusal: &Refusal) {
    if let Ok(text) = decode(bytes) {
        assert_eq!(strip(text, true).as_ref(), Err(refusal));
        let (key, entry) = entry(1);
        assert_eq!(
            compose(Some(text), &[(&key, &entry)], true).as_ref(),
            Err(refusal)
        );
        assert!(
            seek_fusion_keys(bytes)
                .iter()
                .all(|key| text.contains(key.as_str()))
        );
        if let Refusal::Unparsable { line, column, .. } = refusal {
            assert!(*line <= text.len() + 1 && *column <= text.len() + 1);
        }
    }
    assert!(!refusal.to_string().contains('\n'));
}

/// A config whose every detail is one of the choices. Choices that run out are all zero, which makes plain ones.
pub(crate) fn document(choices: &[u8]) -> String {
    let mut maker = Maker {
        choices,
        out: String::new(),
    };
    maker.file();
    maker.out
}

struct Maker<'a> {
    choices: &'a [u8],
    out: String,
}

impl Maker<'_> {
    fn choose(&mut self, ways: usize) -> usize {
        let Some((first, rest)) = self.choices.split_first() else {
            return 0;
        };
        self.choices = rest;
        usize::from(*first) % ways
    }

    fn one_of(&mut self, ways: &[&str]) {
        let way = ways[self.choose(ways.len())];
        self.out.push_str(way);
    }

    fn file(&mut self) {
        self.one_of(&["", "", "\u{feff}"]);
        self.trivia();
        if self.choose(8) < 7 {
            self.object(0);
        }
        self.trivia();
    }

    fn trivia(&mut self) {
        for _ in 0..[0, 0, 1, 1, 2, 3][self.choose(6)] {
            self.one_of(&[
                "\n",
                "  ",
                "\t",
                "\r\n",
                " ",
                "\n  ",
                "\n    ",
                "\r\n\t",
                "\r",
                "/**/",
                "/* a\n b */",
                "// c\n",
                "//\r\n",
                "// \"mcpServers\": {}\n",
                "// d\r",
                "/* { */",
                "//é\n",
                "\n\n",
            ]);
        }
    }

    /// The root is level 0, `mcpServers` level 1.
    fn object(&mut self, level: usize) {
        self.out.push('{');
        self.trivia();
        let count = [0, 1, 1, 2, 3, 4][self.choose(6)];
        let mut has_servers = false;
        for index in 0..count {
            let servers = level == 0 && !has_servers && self.choose(2) == 0;
            has_servers |= servers;
            match (level, servers) {
                (0, true) => self.one_of(&["\"mcpServers\"", "\"mcp\\u0053ervers\"", "\"\\u006dcpServers\""]),
                (1, _) if self.choose(3) == 0 => {
                    self.one_of(&["\"fusion-custom-tools-", "\"\\u0066usion-custom-tools-"]);
                    let number = [index + 1, index + 10][self.choose(2)];
                    self.out.extend([number.to_string().as_str(), "\""]);
                }
                _ => self.one_of(&[
                    "\"a\"",
                    "\"a\"",
                    "\"\"",
                    "\"\\ud83d\"",
                    "\"fusion-custom-tools\"",
                    "\"x\\\"y\"",
                ]),
            }
            self.trivia();
            self.out.push(':');
            self.trivia();
            match (servers, level) {
                (true, _) => self.object(1),
                (_, 3..) => self.out.push('1'),
                _ => self.value(level),
            }
            self.trivia();
            let comma = index + 1 < count || self.choose(4) == 3;
            self.out.push_str(if comma { "," } else { "" });
            self.trivia();
        }
        self.out.push('}');
    }

    fn value(&mut self, level: usize) {
        match self.choose(6) {
            0 => self.object(level.max(1) + 1),
            1 => {
                self.out.push('[');
                self.trivia();
                for _ in 0..self.choose(3) {
                    self.value(3);
                    self.trivia();
                    self.out.push(',');
                    self.trivia();
                }
                self.out.push(']');
            }
            2 => self.one_of(&["1", "-0.0", "1e400", "12345678901234567890123", "1.50E+2"]),
            3 => self.one_of(&[
                "\"// no comment\"",
                "\"http://x\"",
                "\"\\ud83d\"",
                "\"/*\"",
                "\"😀\"",
            ]),
            4 => self.one_of(&["true", "false", "null"]),
            // As it stands there after a session that was killed.
            _ => {
                let (_, entry) = entry(1);
                self.out
                    .extend(["{ \"command\": \"", &entry.command, "\", \"args\": [] }"]);
            }
        }
    }
}
