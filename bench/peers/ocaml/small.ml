(* The workloads about one effect: performing it, handling it, keeping a computation, and a generator. *)

open Effect
open Effect.Deep
open Harness

type _ Effect.t += Ask : int -> int t
type _ Effect.t += Other : unit t
type _ Effect.t += Yield : int -> unit t

(* Performs [n] times, and checks that each number comes back with one added. *)
let ask n =
  timed (fun () ->
      let sum = ref 0 in
      for number = 0 to n - 1 do
        sum := !sum + perform (Ask number)
      done;
      check (!sum = n * (n + 1) / 2) "the sum of the answers")

(* Below this many handlers of another effect. *)
let rec below between work =
  if between = 0 then work ()
  else match below (between - 1) work with seconds -> seconds | effect Other, k -> continue k ()

let perform job =
  if job.variant <> "resume" then raise (Unsupported "OCaml has no clauses that answer in place");
  let between = parameter job "between" in
  nanoseconds
    (measure job (fun n ->
         match below between (fun () -> ask n) with
         | seconds -> seconds
         | effect Ask number, k -> continue k (number + 1)))

let add = Sys.opaque_identity (fun number -> number + 1)

let create job =
  let handled number =
    match add number with sum -> sum | effect Ask number, k -> continue k (number + 1)
  in
  nanoseconds
    (measure job (fun n ->
         timed (fun () ->
             let sum = ref 0 in
             for number = 0 to n - 1 do
               sum := !sum + handled number
             done;
             check (!sum = n * (n + 1) / 2) "the sum")))

type asking = Ended of int | Asked of (int, asking) continuation

let suspended job =
  let start number =
    match Effect.perform (Ask number) + 1 with
    | result -> Ended result
    | effect Ask _, k -> Asked k
  in
  let go_on number = function
    | Asked k -> ( match continue k number with Ended result -> result | Asked _ -> failwith "it asks once")
    | Ended _ -> failwith "it asks"
  in
  let keep count =
    let all = Array.make count (Ended 0) in
    Gc.full_major ();
    let before = resident_bytes () in
    for number = 0 to count - 1 do
      all.(number) <- start number
    done;
    let grown = resident_bytes () - before in
    let sum = ref 0 in
    Array.iteri (fun number one -> sum := !sum + go_on number one) all;
    check (!sum = count * (count + 1) / 2) "the sum of the answers";
    grown
  in
  let count = parameter job "continuations" in
  ignore (keep ((count + 99) / 100));
  let cpu = Sys.time () in
  let grown = ref 0 in
  let seconds = timed (fun () -> grown := keep count) in
  let measured = { operations = count; seconds; cpu_seconds = Sys.time () -. cpu } in
  { measured; value = float_of_int !grown /. float_of_int count; checksum = None }

type tree = Leaf | Node of tree * int * tree

(* A tree of [count] numbers in order, from [first] on. *)
let rec balanced first count =
  if count = 0 then Leaf
  else
    let before = (count - 1) / 2 in
    Node (balanced first before, first + before, balanced (first + before + 1) (count - 1 - before))

let rec walk = function
  | Leaf -> ()
  | Node (left, value, right) ->
      walk left;
      Effect.perform (Yield value);
      walk right

type generator = Empty | More of int * (unit, generator) continuation

let values tree = match walk tree with () -> Empty | effect Yield value, k -> More (value, k)

let rec sum total = function Empty -> total | More (value, k) -> sum (total + value) (continue k ())

let generator job =
  let nodes = parameter job "nodes" in
  let tree = balanced 1 nodes and small = balanced 1 (nodes / 100) in
  let run () =
    timed (fun () -> check (sum 0 (values tree) = nodes * (nodes + 1) / 2) "the sum of the tree")
  in
  let measured = measure_whole job (fun () -> ignore (sum 0 (values small))) run in
  let answer = nanoseconds measured in
  { answer with value = answer.value /. float_of_int nodes }
