    println!("cargo::rerun-if-changed=memory.x");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo says where to write")?;
    let out = std::path::PathBuf::from(out);
    std::fs::copy("memory.x", out.join("memory.x"))?;
    println!("cargo::rustc-link-search={}", out.display());