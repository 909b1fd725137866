//! State files of every kind: what is printed is read again, and no bytes do harm.

use fusion_cursor_native::mcp::manifest::{
    Baseline, Lease, Leases, Manifest, Pending, PendingKind, Quarantine, ServerEntry, Unknown,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::manifest::fixtures;

fn any_entry() -> impl Strategy<Value = ServerEntry> {
    let env = proptest::collection::btree_map(any::<String>(), any::<String>(), 0..3);
    (any::<String>(), vec(any::<String>(), 0..3), env)
        .prop_map(|(command, args, env)| ServerEntry::new(command, args, env.into_iter().collect()))
}

fn any_lease() -> impl Strategy<Value = Lease> {
    (
        any::<(i64, i64, String)>(),
        any_entry(),
        option::of(any::<String>()),
    )
        .prop_map(|((pid, heartbeat_at, hostname), entry, process_start)| Lease {
            pid,
            hostname,
            heartbeat_at,
            entry,
            process_start,
            unknown: Unknown::new(),
        })
}

fn any_manifest() -> impl Strategy<Value = Manifest> {
    let unknown = Unknown::new;
    let texts = || option::of(any::<String>());
    let baseline = (any::<(bool, bool, bool)>(), texts(), option::of(any::<u32>())).prop_map(
        move |((existed, parsable, created_dir), raw, mode)| Baseline {
            existed,
            raw,
            mode,
            parsable,
            created_dir,
            unknown: unknown(),
        },
    );
    let kinds = [
        PendingKind::Write,
        PendingKind::Restore,
        PendingKind::Delete,
        PendingKind::Quarantine,
    ];
    let pending = (proptest::sample::select(kinds.to_vec()), texts(), any::<u64>()).prop_map(
        move |(kind, raw, seq)| Pending {
            kind,
            raw,
            seq,
            unknown: unknown(),
        },
    );
    let quarantine = (texts(), vec(any::<String>(), 0..3), any::<String>()).prop_map(
        move |(raw, fusion_keys, observed_at)| Quarantine {
            raw,
            fusion_keys,
            observed_at,
            unknown: unknown(),
        },
    );
    let leases = vec(("[a-z\"é]{0,4}", any_lease()), 0..4).prop_map(|leases| {
        let keyed = |(key, lease)| (format!("fusion-custom-tools-{key}"), lease);
        leases.into_iter().map(keyed).collect::<Leases>()
    });
    let rest = (option::of(pending), option::of(quarantine), leases, texts());
    (baseline, any::<(bool, bool, bool)>(), rest).prop_map(|(baseline, flags, rest)| Manifest {
        exclusion_owned: flags.0,
        operator_edit_observed: flags.1,
        config_unwritable: flags.2,
        pending: rest.0,
        quarantine: rest.1,
        leases: rest.2,
        last_written: rest.3,
        ..Manifest::new(baseline)
    })
}

/// The same, but for the order of fields, which only a file has.
fn same(one: &Manifest, other: &Manifest) -> bool {
    serde_json::from_str::<Value>(&one.to_json()).unwrap()
        == serde_json::from_str::<Value>(&other.to_json()).unwrap()
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(manifest in any_manifest()) {
        let printed = manifest.to_json();
        let read = Manifest::parse(printed.as_bytes()).unwrap();
        prop_assert!(same(&read, &manifest), "{printed}");
        prop_assert_eq!(read.to_json(), printed.as_str());
        prop_assert_eq!(read.leases.keys().collect::<Vec<_>>(), manifest.leases.keys().collect::<Vec<_>>());
        // As anybody's printer prints it.
        let value: Value = serde_json::from_str(&printed).unwrap();
        let lines = serde_json::to_string_pretty(&value).unwrap().lines().count();
        prop_assert_eq!(printed.lines().count(), lines);
    }

    #[test]
    fn unknown_fields_survive_at_every_level(manifest in any_manifest(), key in "[a-zé\"]{1,6}", deep in 0..20_usize, at in any::<proptest::sample::Index>()) {
        let field = format!("{}: {}1.50{},", json!(format!("_{key}")), "[".repeat(deep), "]".repeat(deep));
        let printed = manifest.to_json();
        let braces: Vec<usize> = object_starts(&printed);
        let at = braces[at.index(braces.len())];
        let text = format!("{}{field}{}", &printed[..at], &printed[at..]);
        let Ok(read) = Manifest::parse(text.as_bytes()) else {
            // In an environment or among the leases it is no unknown field, but one of the wrong shape.
            return Ok(());
        };
        prop_assert!(read.to_json().contains(field.trim_end_matches(',')), "{}", read.to_json());
        prop_assert_eq!(Manifest::parse(read.to_json().as_bytes()).unwrap(), read, "{}", text);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..60)) {
        let _ = Manifest::parse(&bytes);
    }

    #[test]
    fn no_change_of_a_byte_panics(at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        for (_, text) in fixtures() {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(manifest) = Manifest::parse(&bytes) {
                prop_assert!(Manifest::parse(manifest.to_json().as_bytes()).is_ok());
            }
        }
    }
}

/// Behind each brace that opens an object with something in it.
fn object_starts(printed: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in printed.bytes().enumerate() {
        if byte == b'{' && !in_string && printed[at + 1..].starts_with('\n') {
            starts.push(at + 1);
        }
        in_string ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
    }
    starts
}
