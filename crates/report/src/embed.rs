//! Data into the page, as JSON that no text inside it can leave.

use serde::Serialize;

/// The page as web/ builds it; build.rs has checked that the mark occurs once.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));
/// Where the data goes: before the end of this element.
const MARK: &str = r#"<script type="application/json" id="tacho-data">"#;

/// How the page's policy begins: it fetches nothing.
const NOTHING: &str = "default-src 'none';";
/// The same of a page that may ask its own server.
const OWN_SERVER: &str = "default-src 'none'; connect-src 'self';";

/// The page with data in it, which may ask the server that it came from for more.
pub fn into_live_template(json: &str) -> String {
    with_json(json).replacen(NOTHING, OWN_SERVER, 1)
}

/// The page with `data` in it.
pub fn into_template(data: &impl Serialize) -> serde_json::Result<String> {
    Ok(with_json(&serde_json::to_string(data)?))
}

fn with_json(json: &str) -> String {
    let json = script_safe(json);
    let at = TEMPLATE.find(MARK).expect("build.rs has seen the mark") + MARK.len();
    let mut page = String::with_capacity(TEMPLATE.len() + json.len());
    page.push_str(&TEMPLATE[..at]);
    page.push_str(&json);
    page.push_str(&TEMPLATE[at..]);
    page
}

/// `json`, which must be JSON, with what HTML or an old ECMAScript could read differently written as `\u` escapes.
///
/// All of these characters occur in JSON inside strings only, so the escape never changes the value. Within a `script`
/// element HTML looks for `</script` and `<!--` (HTML Living Standard, 13.1.2.1); without `<` there is neither.
pub fn script_safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    const HOSTILE: &[&str] = &[
        "</script><img src=x onerror=alert(1)>",
        "</SCRIPT ><script>alert(1)</script>",
        "<!--<script>",
        "]]>",
        "\u{2028}\u{2029}",
        "\"; alert(1); //",
        "\\u003c/script>",
        "\\",
        "&lt;script&gt;",
        "\0\u{1b}[31m",
        "${alert(1)}`",
    ];

    #[test]
    fn hostile_text_stays_inside_its_element_and_comes_back_unchanged() {
        for text in HOSTILE {
            let value = json!({ *text: [text] });
            let page = into_template(&value).unwrap();
            let data = page.split_once(MARK).unwrap().1.split_once("</script>").unwrap().0;
            assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{data}");
            assert_eq!(serde_json::from_str::<Value>(data).unwrap(), value);
            assert_eq!(page.len() - data.len(), TEMPLATE.len(), "the rest of the page is as it was built");
        }
    }

    #[test]
    fn only_a_live_page_may_ask_its_server() {
        let policy =
            |page: String| page.split("Content-Security-Policy\" content=\"").nth(1).unwrap()[..60].to_string();
        assert!(policy(into_template(&0).unwrap()).starts_with("default-src 'none'; style-src"));
        assert!(policy(into_live_template("0")).starts_with("default-src 'none'; connect-src 'self'; style-src"));
    }

    #[test]
    fn plain_json_is_left_alone() {
        let json = r#"{"name":"/ndt_matching","mean":1.5e3,"none":null}"#;
        assert_eq!(script_safe(json), json);
    }
}
