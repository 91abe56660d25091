import { AutoModel, Tensor, env } from "@huggingface/transformers";
env.allowRemoteModels=false; env.localModelPath="/tmp/flink/js/";
for (const dtype of ["fp32","fp16"]) {
 try { const m = await AutoModel.from_pretrained(process.argv[2],{dtype});
 const t=(v)=>new Tensor("int64",BigInt64Array.from(v),[1,3]);
 const o=await m({input_ids:t([1n,2n,3n]),attention_mask:t([1n,1n,1n])}); console.log(dtype, o.last_hidden_state.data.slice(0,3)); } catch(e) { console.log(dtype,"FAIL",String(e).slice(0,300)); } }
