//! list ARCHIVE [GRAPH]: prints the tensors of a model, and the sums of FLOATs.
use onnxar::{Archive, Error};

fn list(path: &str, graph: Option<&str>) -> Result<(), Error> {
    let archive = Archive::open(path)?;
    for tensor in graph.map_or_else(|| archive.tensors(), |name| archive.graph_tensors(name))? {
        let tensor = tensor?;
        let name = tensor.name().escape_debug().to_string();
        print!(
            "{name}: type {} {:?}, {} bytes, {}",
            tensor.data_type(),
            tensor.dims(),
            tensor.data().len(),
            tensor.site()
        );
        match tensor.floats() {
            Some(floats) => println!(", sum {}", floats.iter().map(|&value| f64::from(value)).sum::<f64>()),
            None => println!(),
        }
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(path), graph) = (arguments.first(), arguments.get(1)) else {
        eprintln!("usage: list ARCHIVE [GRAPH]");
        std::process::exit(2);
    };
    if let Err(error) = list(path, graph.map(String::as_str)) {
        eprintln!("list: {error}");
        std::process::exit(1);
    }
}
