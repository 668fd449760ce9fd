(* OCaml's effect handlers and its collector, measured: one sample for each process, its answer a line of JSON.

   main WORKLOAD VARIANT WORKERS MILLIS [key=value ...] *)

open Harness

let program = function
  | "chameneos" -> Programs.chameneos
  | "countdown" -> Programs.countdown
  | "fibonacci-recursive" -> Programs.handled_fibonacci
  | "generator" -> Programs.generator
  | "handler-sieve" -> Programs.sieve
  | "iterator" -> Programs.iterator
  | "nqueens" -> Programs.nqueens
  | "parsing-dollars" -> Programs.parsing_dollars
  | "product-early" -> Programs.product_early
  | "resume-nontail" -> Programs.resume_nontail
  | "tree-explore" -> Programs.tree_explore
  | "triples" -> Programs.triples
  | other -> raise (Unsupported ("OCaml has no program " ^ other))

let suite job =
  let run = program job.variant and n = parameter job "n" in
  let warm = if n > 100 then n / 10 else max 2 (n - 4) in
  let result = ref 0 in
  let whole () = timed (fun () -> result := run n) in
  let measured = measure_whole job (fun () -> ignore (run warm)) whole in
  { (milliseconds measured) with checksum = Some !result }

let workload = function
  | "effect-perform" -> Small.perform
  | "effect-create" -> Small.create
  | "effect-suspended" -> Small.suspended
  | "effect-generator" -> Small.generator
  | "effect-suite" -> suite
  | "heap-trees" -> Heap.trees
  | "heap-lru" -> Lru.lru
  | other -> raise (Unsupported ("OCaml has no program for the workload " ^ other))

let parse = function
  | _ :: workload :: variant :: workers :: millis :: parameters ->
      let pair text =
        match String.split_on_char '=' text with
        | [ name; value ] -> (name, int_of_string value)
        | _ -> failwith ("not of the form key=value: " ^ text)
      in
      { workload; variant; workers = int_of_string workers; millis = int_of_string millis; parameters = List.map pair parameters }
  | _ -> failwith "usage: WORKLOAD VARIANT WORKERS MILLIS [key=value ...]"

let () =
  try
    let job = parse (Array.to_list Sys.argv) in
    if job.workload = "heap-pauses" then Heap.pauses job else print (workload job.workload job)
  with
  | Unsupported reason ->
      prerr_endline reason;
      exit 3
  | Failure reason ->
      prerr_endline ("error: " ^ reason);
      exit 1
