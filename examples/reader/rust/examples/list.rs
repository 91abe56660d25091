//! list ARCHIVE [GRAPH]: prints the tensors of a model, and the sums of linked FLOATs.
use onnxar_reader::{Archive, Error};

fn list(path: &str, graph: Option<&str>) -> Result<(), Error> {
    let archive = Archive::open(path)?;
    let index = graph.map_or(Some(archive.model()), |name| archive.find(&format!("{name}.onnx")));
    let mut walk = archive.walk(index.unwrap_or(usize::MAX))?;
    while let Some(tensor) = walk.next()? {
        let (name, site) = (tensor.name().escape_debug().to_string(), tensor.site());
        print!("{name}: type {} {:?}, {} bytes, {site}", tensor.data_type(), tensor.dims(), tensor.data().len());
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
