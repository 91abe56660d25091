//! The vectors of the specification, opened, checked and walked through from Rust.
use onnxar_reader::{Archive, Error};
use std::path::{Path, PathBuf};

fn vectors(kind: &str) -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors");
    let folder = std::env::var("ONNXAR_VECTORS").map(PathBuf::from).unwrap_or(beside);
    let mut files: Vec<_> = std::fs::read_dir(folder.join(kind)).unwrap().map(|file| file.unwrap().path()).collect();
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
    let mut walk = archive.walk(archive.model())?;
    while let Some(tensor) = walk.next()? {
        assert!(tensor.site().starts_with(|c: char| c.is_ascii_lowercase()));
        read += tensor.data().len() + tensor.dims().len() + tensor.name().len();
    }
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
    let error = Archive::from_bytes(b"no archive").err().unwrap();
    assert_eq!((error.code, error.rule, error.offset), ("zip.end.missing", "E1", Some(10)));
    assert_eq!(error.to_string(), "zip.end.missing at 10: the file does not end in an end record");
}
