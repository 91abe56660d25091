//! The vectors of the specification, opened, checked and read from Rust.
use onnxar::{Archive, Error};
use std::path::{Path, PathBuf};

/// Returns the files of a folder of spec/vectors. The published package does not have them.
fn vectors(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors").join(kind);
    let mut files: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn read_all(archive: &Archive) -> Result<usize, Error> {
    archive.check(true)?;
    let mut read = 0;
    for index in 0..archive.len() {
        assert_eq!(archive.find(archive.name(index)?), Some(index));
        read += archive.data(index)?.len();
    }
    for tensor in archive.tensors()? {
        let tensor = tensor?;
        assert!(tensor.site().starts_with(|c: char| c.is_ascii_lowercase()));
        read += tensor.data().len() + tensor.dims().len() + tensor.name().len();
    }
    archive.link(None, "name of the file")?;
    Ok(read)
}

#[test]
fn valid_files_are_read() {
    for file in vectors("valid") {
        let archive = Archive::open(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(read_all(&archive).unwrap_or_else(|error| panic!("{}: {error}", file.display())) > 0);
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(read_all(&Archive::from_bytes(&bytes).unwrap()), read_all(&archive));
    }
}

#[test]
fn invalid_files_are_refused() {
    let accepted = ["checksum_", "limit_", "model_too_large"]; // M22 is not looked at, and no limits are set
    for file in vectors("invalid") {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        match Archive::open(&file).and_then(|archive| read_all(&archive)) {
            Ok(_) => assert!(accepted.iter().any(|start| name.contains(start)), "{name} is accepted"),
            Err(error) => assert!(!error.rule.is_empty() && !error.code.is_empty(), "{name}: {error}"),
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let error = Archive::open("/no/such/file").err().unwrap();
    assert_eq!(error.code, "io.not_found");
    assert_eq!(error.path, Path::new("/no/such/file"));
    assert!(error.to_string().starts_with("/no/such/file: io.not_found: "));
    let beneath_a_file = Archive::open("Cargo.toml/model.onnxar").err().unwrap();
    assert!(!cfg!(unix) || beneath_a_file.code == "io.not_found");
    let error = Archive::from_bytes(b"no archive").err().unwrap();
    assert_eq!((error.code, error.rule, error.offset), ("zip.end.missing", "E1", Some(10)));
    assert_eq!(error.to_string(), "zip.end.missing at 10: the file does not end in an end record");
}

#[test]
fn errors_name_file_of_archive() {
    for file in vectors("invalid") {
        let error = Archive::open(&file).and_then(|archive| read_all(&archive)).err();
        assert!(error.is_none_or(|error| error.path == file), "{}", file.display());
        let bytes = std::fs::read(&file).unwrap();
        let error = Archive::from_bytes(&bytes).and_then(|archive| read_all(&archive)).err();
        assert!(error.is_none_or(|error| error.path.as_os_str().is_empty()), "{}", file.display());
    }
    for file in vectors("valid") {
        let archive = Archive::open(&file).unwrap();
        assert_eq!(archive.data(archive.len()).unwrap_err().path, file);
        assert_eq!(archive.link(Some("none"), "m").unwrap_err().path, file);
        assert_eq!(archive.link(None, "a/b").unwrap_err().path, file);
    }
}

#[test]
fn folders_are_refused() {
    assert_eq!(Archive::open(".").err().unwrap().code, "io.not_a_file");
}

#[test]
fn links_with_the_name_of_an_entry_are_refused() {
    for file in vectors("valid").iter().filter(|file| file.ends_with("typical.onnxar")) {
        let archive = Archive::open(file).unwrap();
        assert_eq!(archive.link(None, "A").unwrap_err().code, "usage.own_name"); // "a" is an entry
        assert_eq!(archive.link(None, "a/b").unwrap_err().code, "usage.argument");
    }
}

/// The links that the command makes are in the folder that ONNXAR_LINKS names, beside their archives.
#[test]
fn links_are_those_of_the_command() {
    let Some(folder) = std::env::var_os("ONNXAR_LINKS") else { return };
    let mut compared = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|end| end == "onnxar") {
            let name = file.file_name().unwrap().to_str().unwrap();
            let link = Archive::open(&file).unwrap().link(None, name).unwrap();
            assert!(link == std::fs::read(file.with_extension("onnx")).unwrap(), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} links were compared");
}
