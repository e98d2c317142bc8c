//! Takes the version of Dust DDS from the lock file, because Dust DDS does not report it.

fn main() {
    println!("cargo::rerun-if-changed=../Cargo.lock");
    let lock = std::fs::read_to_string("../Cargo.lock").expect("the workspace's Cargo.lock");
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"dust_dds\""))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .expect("dust_dds in Cargo.lock");
    println!("cargo::rustc-env=DUST_DDS_VERSION={version}");
}
