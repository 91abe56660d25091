//! tract: run JOBS. A file of jobs is described in runners/worker.py.
use tract_onnx::prelude::*;

#[path = "../../jobs.rs"]
mod jobs;

fn run(model: &str, dims: &[usize], values: &[f32]) -> TractResult<(Vec<usize>, Vec<f32>)> {
    let plan = tract_onnx::onnx().model_for_path(model)?.into_optimized()?.into_runnable()?;
    let x = Tensor::from_shape(dims, values)?;
    let y = plan.run(tvec!(x.into()))?.remove(0);
    let view = y.to_plain_array_view::<f32>()?;
    Ok((view.shape().to_vec(), view.iter().copied().collect()))
}

fn main() {
    jobs::each(|model, dims, values| run(model, dims, values).map_err(|error| format!("{error:#}")));
}
