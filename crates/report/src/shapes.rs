//! The page's types in TypeScript, web/src/shapes/: made of the types whose JSON the page reads, and compared with what
//! stands there. Fields that serde leaves out are optional; an `Option` that it writes as null is `| null`.

use crate::page::Page;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use tacho_events::run::RunInfo;
use tacho_tables::summary::Summary;
use tacho_tables::{CauseKind, LAYERS};
use tacho_tune::{ObjectiveCurve, Proof};

/// Asks the test to write the files.
const WRITE: &str = "WRITE_SHAPES";
const COMMAND: &str = "WRITE_SHAPES=1 cargo test -p tacho-report shapes";

#[test]
fn the_shapes_of_the_page_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/shapes");
    let files = files();
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }
    for (name, text) in &files {
        let found = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(found == *text, "web/src/shapes/{name} is stale: run {COMMAND}");
    }
    let known: BTreeSet<_> = files.iter().map(|(name, _)| name.clone()).collect();
    let there =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    assert_eq!(there.collect::<BTreeSet<_>>(), known, "files of web/src/shapes");
}

#[test]
fn a_field_is_optional_where_serde_may_leave_it_out_and_null_where_it_writes_that() {
    #[derive(serde::Serialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Sample {
        /// In words.
        always: f64,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        absent: Option<Vec<Option<u64>>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        empty: Vec<(String, f64)>,
        null: Option<BTreeMap<String, Value>>,
        #[serde(flatten)]
        inner: Option<Inner>,
    }
    #[derive(serde::Serialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        flat: bool,
    }
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Sample>();
    let expected = "export interface Sample {
  absent?: (number | null)[];
  /** In words. */
  always: number;
  empty?: [string, number][];
  flat?: boolean;
  null: Record<string, unknown> | null;
}
";
    assert_eq!(declaration("Sample", schema.as_value()), expected);
}

/// Each file of web/src/shapes with its text. A type stands in the file of the first room that has it.
fn files() -> Vec<(String, String)> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let rooms: [(&str, &str, fn(&mut SchemaGenerator)); 4] = [
        ("run", "crates/events: run.json", |generator| {
            generator.subschema_for::<RunInfo>();
        }),
        ("summary", "crates/tables: summary.json", |generator| {
            generator.subschema_for::<Summary>();
        }),
        ("tuning", "crates/tune: proof.json and objective.json", |generator| {
            generator.subschema_for::<Proof>();
            generator.subschema_for::<ObjectiveCurve>();
        }),
        ("page", "crates/report: what is embedded into the page", |generator| {
            generator.subschema_for::<Page<'static>>();
        }),
    ];
    let mut file_of: BTreeMap<String, &str> = BTreeMap::new();
    let mut files = Vec::new();
    for (file, of, add) in rooms {
        add(&mut generator);
        let own: BTreeMap<&String, &Value> =
            generator.definitions().iter().filter(|(name, _)| !file_of.contains_key(*name)).collect();
        let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for name in own.values().flat_map(|schema| references(schema)) {
            if let Some(other) = file_of.get(name) {
                imports.entry(other).or_default().insert(name);
            }
        }
        let mut text = format!("// The shapes of {of}.\n// Made of the Rust types by `{COMMAND}`.\n");
        for (other, names) in imports {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "import type {{ {names} }} from \"./{other}\";");
        }
        for (name, schema) in &own {
            let _ = write!(text, "\n{}", declaration(name, schema));
        }
        let names: Vec<String> = own.keys().map(|name| name.to_string()).collect();
        file_of.extend(names.into_iter().map(|name| (name, file)));
        files.push((format!("{file}.ts"), text));
    }
    let all: String = rooms.iter().map(|(file, ..)| format!("export type * from \"./{file}\";\n")).collect();
    files.push(("index.ts".into(), format!("// Made of the Rust types by `{COMMAND}`.\n{all}")));
    files.push(("words.ts".into(), format!("// Made of the Rust types by `{COMMAND}`.\n{}", words(&generator))));
    files
}

/// What the page says in the words of the tables: layers, and what stands before by whom of each kind of cause.
fn words(generator: &SchemaGenerator) -> String {
    let mut text = "import type { CauseKind } from \"./summary\";\n\n".to_owned();
    let layers = format!("{LAYERS:#?}").replace("    ", "  ");
    let _ = write!(
        text,
        "/** In the order in which a message passes them. */\nexport const LAYERS = {layers} as const;\n\n"
    );
    text += "/** Words before by whom. */\n";
    text += "export const CAUSES: Record<CauseKind, string> = {\n";
    let kinds = generator.definitions()["CauseKind"]["oneOf"].as_array().expect("kinds, each with its docs");
    for kind in kinds {
        let kind = &kind["const"];
        let cause: CauseKind = serde_json::from_value(kind.clone()).expect("a kind");
        let _ = writeln!(text, "  {}: {:?},", kind.as_str().expect("a name"), cause.words());
    }
    text + "};\n"
}

/// Names of the definitions that a schema refers to.
fn references(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Object(parts) => {
            let own = parts.get("$ref").and_then(Value::as_str).map(name_of);
            own.into_iter().chain(parts.values().flat_map(references)).collect()
        }
        Value::Array(all) => all.iter().flat_map(references).collect(),
        _ => vec![],
    }
}

fn name_of(reference: &str) -> &str {
    reference.strip_prefix("#/$defs/").unwrap_or_else(|| panic!("{reference}: expected a definition"))
}

fn declaration(name: &str, schema: &Value) -> String {
    let docs = docs(schema, "");
    match schema.get("properties") {
        Some(_) if schema.get("oneOf").is_none() => format!("{docs}export interface {name} {}\n", fields(schema, "")),
        _ => format!("{docs}export type {name} = {};\n", type_of(schema, "")),
    }
}

/// The description as a comment, before what it describes.
fn docs(schema: &Value, indent: &str) -> String {
    let Some(text) = schema.get("description").and_then(Value::as_str) else { return String::new() };
    let text = text.replace("[`", "`").replace("`]", "`").replace("*/", "* /");
    match text.split_once('\n') {
        None => format!("{indent}/** {text} */\n"),
        Some(_) => {
            let lines: String =
                text.lines().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

fn fields(schema: &Value, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let required: Vec<&str> = strings(schema.get("required"));
    let properties: BTreeMap<_, _> = schema["properties"].as_object().expect("properties").iter().collect();
    let mut text = "{\n".to_owned();
    for (name, property) in properties {
        let always = required.contains(&name.as_str());
        let mut types = types_of(property, &inner);
        if !always {
            types.retain(|one| one != "null");
        }
        let optional = if always { "" } else { "?" };
        let _ = writeln!(text, "{}{inner}{name}{optional}: {};", docs(property, &inner), types.join(" | "));
    }
    format!("{text}{indent}}}")
}

fn type_of(schema: &Value, indent: &str) -> String {
    types_of(schema, indent).join(" | ")
}

/// The members of its union; one where it is none. A form that none of our types takes is refused.
fn types_of(schema: &Value, indent: &str) -> Vec<String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return vec![name_of(reference).to_owned()];
    }
    if let Some(value) = schema.get("const") {
        return vec![value.to_string()];
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect();
    }
    if let Some(members) = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array) {
        return members.iter().flat_map(|member| types_of(member, indent)).collect();
    }
    match schema.get("type") {
        None => vec!["unknown".into()],
        Some(Value::Array(types)) => types
            .iter()
            .map(|one| {
                let mut single = schema.clone();
                single["type"] = one.clone();
                type_of(&single, indent)
            })
            .collect(),
        Some(one) => vec![match one.as_str().unwrap_or_default() {
            "string" => "string".into(),
            "boolean" => "boolean".into(),
            "number" | "integer" => "number".into(),
            "null" => "null".into(),
            "array" => array(schema, indent),
            "object" if schema.get("properties").is_some() => fields(schema, indent),
            "object" => format!("Record<string, {}>", type_of(&schema["additionalProperties"], indent)),
            other => panic!("a type {other} in {schema}"),
        }],
    }
}

fn array(schema: &Value, indent: &str) -> String {
    if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
        let items: Vec<String> = items.iter().map(|item| type_of(item, indent)).collect();
        return format!("[{}]", items.join(", "));
    }
    match types_of(&schema["items"], indent).as_slice() {
        [one] => format!("{one}[]"),
        several => format!("({})[]", several.join(" | ")),
    }
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
