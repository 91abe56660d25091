//! rten: run JOBS. A file of jobs is described in runners/worker.py.
use rten::Model;
use rten_tensor::prelude::*;
use rten_tensor::Tensor;

#[path = "../../jobs.rs"]
mod jobs;

fn run(model: &str, dims: &[usize], values: &[f32]) -> Result<(Vec<usize>, Vec<f32>), Box<dyn std::error::Error>> {
    let model = Model::load_file(model)?;
    let x = Tensor::from_data(dims, values.to_vec());
    let y: Tensor<f32> = model.run_one(x.into(), None)?.try_into()?;
    Ok((y.shape().to_vec(), y.to_vec()))
}

fn main() {
    jobs::each(|model, dims, values| run(model, dims, values).map_err(|error| error.to_string()));
}
