//! Embeds the page that web/ builds. It is a build product of its own, so a missing one is named with its remedy.

use std::path::PathBuf;
use std::{env, fs};

/// What the page leaves open for the data; it must occur exactly once.
const MARK: &str = r#"<script type="application/json" id="tacho-data"></script>"#;

fn main() {
    println!("cargo::rerun-if-env-changed=TACHO_REPORT_TEMPLATE");
    let template = env::var_os("TACHO_REPORT_TEMPLATE").map_or_else(
        || PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../build/web/report.html"),
        PathBuf::from,
    );
    println!("cargo::rerun-if-changed={}", template.display());
    let page = match fs::read_to_string(&template) {
        Ok(page) => page,
        Err(error) => {
            println!(
                "cargo::error={}: {error}: the report page is not built; run `make web` first",
                template.display()
            );
            return;
        }
    };
    let marks = page.matches(MARK).count();
    if marks != 1 {
        println!(
            "cargo::error={}: found {marks} places for the data, expected 1: {MARK}; run `make web` again",
            template.display()
        );
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("report.html");
    fs::write(&out, page).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
}
