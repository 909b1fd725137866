//! Whether a request may go on, judged by its head. Pure.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::{BODY_LIMIT, PATH, Token};

/// Why a request goes no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// What is wrong, for whoever reads it on the other side. It repeats nothing of the request.
    pub(super) sentence: &'static str,
}

impl Refusal {
    pub(super) const fn new(status: StatusCode, sentence: &'static str) -> Self {
        Self { status, sentence }
    }
}

/// What a caller has to know.
#[derive(Debug)]
pub(super) struct Door {
    /// As in `127.0.0.1:5000`.
    pub(super) host: String,
    pub(super) token: Token,
}

/// The first thing that is wrong with a request. The token comes last, and the body is not looked at before it.
pub(super) fn judge(peer: IpAddr, head: &Parts, door: &Door) -> Result<(), Refusal> {
    let refuse = |status, sentence| Err(Refusal::new(status, sentence));
    if !peer.is_loopback() {
        return refuse(StatusCode::FORBIDDEN, "Only this machine may call tools.");
    }
    if head.uri.scheme().is_some() || head.uri.authority().is_some() {
        return refuse(
            StatusCode::BAD_REQUEST,
            "The target of the request must be a path alone.",
        );
    }
    // A page in a browser can have its own name resolve to this machine, but the browser says that name here.
    if only(&head.headers, &HOST).is_none_or(|host| host.as_bytes() != door.host.as_bytes()) {
        return refuse(
            StatusCode::FORBIDDEN,
            "The Host header must be the address of this server.",
        );
    }
    if head.headers.contains_key(ORIGIN) {
        return refuse(StatusCode::FORBIDDEN, "Pages in a browser may not call tools.");
    }
    if head
        .uri
        .path_and_query()
        .is_none_or(|target| target.as_str() != PATH)
    {
        return refuse(StatusCode::NOT_FOUND, "There is nothing at this path.");
    }
    if head.method != Method::POST {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "Tools are called by POST.");
    }
    if !only(&head.headers, &AUTHORIZATION).is_some_and(|shown| is_shown(shown, &door.token)) {
        return refuse(
            StatusCode::UNAUTHORIZED,
            "The token is missing or is not the one of this server.",
        );
    }
    let length = only(&head.headers, &CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > BODY_LIMIT) {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE);
    }
    Ok(())
}

pub(super) const TOO_LARGE: &str = "The body is larger than 4 MiB.";

fn is_shown(shown: &HeaderValue, token: &Token) -> bool {
    const SCHEME: &[u8] = b"Bearer ";
    let shown = shown.as_bytes();
    shown
        .split_at_checked(SCHEME.len())
        .is_some_and(|(scheme, rest)| scheme.eq_ignore_ascii_case(SCHEME) & token.is(rest))
}

/// The value of a header that is there once; of two, somebody in between may take the other one.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use hyper::Request;

    use super::*;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn door() -> Door {
        Door {
            host: "127.0.0.1:5000".into(),
            token: Token::random().unwrap(),
        }
    }

    fn good(door: &Door) -> Parts {
        let request = Request::post(PATH)
            .header(HOST, &door.host)
            .header(AUTHORIZATION, format!("Bearer {}", door.token.reveal()));
        request.body(()).unwrap().into_parts().0
    }

    fn status(peer: IpAddr, head: &Parts, door: &Door) -> u16 {
        judge(peer, head, door).map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn one_that_is_right_goes_on() {
        let door = door();
        assert_eq!(judge(PEER, &good(&door), &door), Ok(()));
        let mut head = good(&door);
        let shown = format!("bearer {}", door.token.reveal());
        head.headers.insert(AUTHORIZATION, shown.parse().unwrap());
        head.headers.insert(CONTENT_LENGTH, BODY_LIMIT.into());
        assert_eq!(judge(PEER, &head, &door), Ok(()));
    }

    #[test]
    fn a_caller_of_another_machine_is_refused() {
        let door = door();
        for peer in [
            IpAddr::V4(Ipv4Addr::new(192, 168, 1, 2)),
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6("fe80::1".parse::<Ipv6Addr>().unwrap()),
        ] {
            assert_eq!(status(peer, &good(&door), &door), 403, "{peer}");
        }
    }

    #[test]
    fn each_wrong_part_has_its_status() {
        let door = door();
        let wrong = |change: &dyn Fn(&mut Parts)| {
            let mut head = good(&door);
            change(&mut head);
            status(PEER, &head, &door)
        };
        for target in [
            "/",
            "/tool-call/",
            "/tool-call?",
            "/tool-call?x",
            "/TOOL-CALL",
            "//tool-call",
            "*",
        ] {
            assert_eq!(wrong(&|head| head.uri = target.parse().unwrap()), 404, "{target}");
        }
        for target in [
            "http://127.0.0.1:5000/tool-call",
            "127.0.0.1:5000",
            "http://evil.example/tool-call",
        ] {
            assert_eq!(wrong(&|head| head.uri = target.parse().unwrap()), 400, "{target}");
        }
        for method in ["GET", "PUT", "OPTIONS", "HEAD", "post", "X"] {
            assert_eq!(
                wrong(&|head| head.method = method.parse().unwrap()),
                405,
                "{method}"
            );
        }
        for host in [
            "localhost:5000",
            "127.0.0.1",
            "127.0.0.1:5001",
            "evil.example:5000",
            "[::1]:5000",
            "",
        ] {
            let set = |head: &mut Parts| {
                head.headers.insert(HOST, host.parse().unwrap());
            };
            assert_eq!(wrong(&set), 403, "{host}");
        }
        let twice = |head: &mut Parts| {
            head.headers.append(HOST, door.host.parse().unwrap());
        };
        assert_eq!(wrong(&twice), 403);
        assert_eq!(wrong(&|head| head.headers.clear()), 403);
        let origin = |head: &mut Parts| {
            head.headers.insert(ORIGIN, "null".parse().unwrap());
        };
        assert_eq!(wrong(&origin), 403);
        let long = |head: &mut Parts| {
            head.headers.insert(CONTENT_LENGTH, (BODY_LIMIT + 1).into());
        };
        assert_eq!(wrong(&long), 413);
    }

    #[test]
    fn a_token_is_shown_once_and_in_one_way() {
        let door = door();
        let token = door.token.reveal();
        for shown in [
            String::new(),
            token.to_owned(),
            "Bearer".into(),
            "Bearer ".into(),
            format!("Bearer  {token}"),
            format!("Basic {token}"),
            format!("Bearer {token} "),
            format!("Bearer {token}0"),
            format!("Bearer {}", &token[1..]),
            format!("Bearer {}", "0".repeat(Token::LENGTH)),
        ] {
            let mut head = good(&door);
            head.headers
                .insert(AUTHORIZATION, HeaderValue::from_bytes(shown.as_bytes()).unwrap());
            assert_eq!(status(PEER, &head, &door), 401, "{}", shown.len());
        }
        let mut head = good(&door);
        let again = head.headers[AUTHORIZATION].clone();
        head.headers.append(AUTHORIZATION, again);
        assert_eq!(status(PEER, &head, &door), 401);
    }
}
