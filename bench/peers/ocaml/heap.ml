(* OCaml's collector: trees, and pauses. A domain for each worker. *)

open Harness

(* By how much the heap may grow beyond the live objects, in percent, and the words of each domain's minor heap. The medium ones are
   OCaml's own. *)
let set_memory job =
  let space_overhead, minor_heap_size =
    match job.variant with
    | "small" -> (60, 256 * 1024)
    | "medium" -> (120, 256 * 1024)
    | "large" -> (300, 1024 * 1024)
    | other -> raise (Unsupported ("OCaml has no variant " ^ other))
  in
  Gc.set { (Gc.get ()) with space_overhead; minor_heap_size }

(* Calls [f] with the number of each domain, and gives the results in their order. *)
let on_domains count f =
  let others = List.init (count - 1) (fun other -> Domain.spawn (fun () -> f (other + 1))) in
  let first = f 0 in
  first :: List.map Domain.join others

type tree = Leaf | Node of tree * tree

(* A leaf that the compiler does not know is an allocation, as in the other systems. It would make one constant of them all. *)
let rec make depth =
  if depth = 0 then Node (Sys.opaque_identity Leaf, Leaf)
  else
    let left = make (depth - 1) in
    let right = make (depth - 1) in
    Node (left, right)

let rec count = function Leaf -> 0 | Node (left, right) -> 1 + count left + count right

(* The first has the tree that lives long, and the last one makes the largest. *)
let share workers depth me =
  let total = ref 0 in
  if me + 1 = workers then total := count (make (depth + 1));
  let long_lived = if me = 0 then make depth else Leaf in
  let shallow = ref 4 in
  while !shallow <= depth do
    let trees = 1 lsl (depth - !shallow + 4) in
    for _ = (trees * me / workers) + 1 to trees * (me + 1) / workers do
      total := !total + count (make !shallow)
    done;
    shallow := !shallow + 4
  done;
  !total + count long_lived

let trees job =
  set_memory job;
  let depth = parameter job "depth" in
  let all depth = List.fold_left ( + ) 0 (on_domains job.workers (share job.workers depth)) in
  let result = ref 0 in
  let whole () = timed (fun () -> result := all depth) in
  let measured = measure_whole job (fun () -> ignore (all (max 4 (depth - 6)))) whole in
  { (milliseconds measured) with checksum = Some !result }

(* How many steps took how long. A range of times is an eighth of a power of two; below 16 ns each time is one. *)
type steps = { counts : int array; mutable longest : int }

let make_steps () = { counts = Array.make 512 0; longest = 0 }

let add steps nanos =
  let shift = ref 0 in
  while nanos lsr !shift >= 16 do incr shift done;
  let range = (!shift lsl 3) + (nanos lsr !shift) in
  steps.counts.(range) <- steps.counts.(range) + 1;
  if nanos > steps.longest then steps.longest <- nanos

let number steps = Array.fold_left ( + ) 0 steps.counts

(* How many microseconds this part of the steps took at most: the end of a range. *)
let micros steps part =
  let enough = int_of_float (Float.ceil (float_of_int (number steps) *. part)) in
  let rec find range seen =
    let seen = seen + steps.counts.(range) in
    if seen >= enough then range else find (range + 1) seen
  in
  let range = find 0 0 in
  let shift = max 0 ((range lsr 3) - 1) in
  let last = ((range - (shift lsl 3)) lsl shift) + ((1 lsl shift) - 1) in
  float_of_int (min last steps.longest) /. 1e3

(* The bytes of an object of the tables, with what a heap adds. *)
let node_bytes = 56

type node = { left : node option; right : node option; first : int; second : int; third : int; fourth : int }

let make_node left = Some { left = Sys.opaque_identity left; right = None; first = 0; second = 0; third = 0; fourth = 0 }

type garbage = None_left | Garbage of int * garbage

let replace_for_a_while me table length =
  let steps = make_steps () and size = Array.length table in
  let random = ref (88172645463325252 + me) and start = Unix.gettimeofday () in
  let last = ref start in
  while !last -. start < length do
    random := !random lxor (!random lsl 13);
    random := !random lxor (!random lsr 7);
    random := !random lxor (!random lsl 17);
    let list = ref None_left in
    for number = 0 to 19 do
      list := Garbage (number, !list)
    done;
    ignore (Sys.opaque_identity !list);
    if !random land 7 = 0 then begin
      let to_ = !random lsr 20 mod size and from = !random lsr 40 mod size in
      table.(to_) <- make_node table.(from);
      table.(from) <- None
    end;
    let now = Unix.gettimeofday () in
    add steps (int_of_float (Float.max 0. ((now -. !last) *. 1e9)));
    last := now
  done;
  steps

let pauses job =
  set_memory job;
  let length = float_of_int (parameter job "millis") /. 1e3 and cpu = Atomic.make 0. in
  let size = parameter job "mib" * 1024 * 1024 / node_bytes / job.workers in
  let waiting = Atomic.make job.workers in
  let all =
    on_domains job.workers (fun me ->
        let table = Array.make size None in
        for at = 0 to size - 1 do
          table.(at) <- make_node None
        done;
        Atomic.decr waiting;
        while Atomic.get waiting > 0 do Domain.cpu_relax () done;
        if me = 0 then Atomic.set cpu (Sys.time ());
        replace_for_a_while me table length)
  in
  let sum = make_steps () in
  let put steps =
    Array.iteri (fun range count -> sum.counts.(range) <- sum.counts.(range) + count) steps.counts;
    sum.longest <- max sum.longest steps.longest
  in
  List.iter put all;
  let operations = number sum in
  let measured = { operations; seconds = length; cpu_seconds = Sys.time () -. Atomic.get cpu } in
  print_figures measured
    [
      ("p99", micros sum 0.99);
      ("p99.99", micros sum 0.9999);
      ("p99.9999", micros sum 0.999999);
      ("longest", float_of_int sum.longest /. 1e3);
      ("steps", float_of_int operations /. length /. 1e6);
    ]
    None
