(* Decides how often to do the work, and measures. *)

type job = { workload : string; variant : string; workers : int; millis : int; parameters : (string * int) list }

(* A job that OCaml, or this program, cannot do. *)
exception Unsupported of string

type measured = { operations : int; seconds : float; cpu_seconds : float }

type answer = { measured : measured; value : float; checksum : int option }

let parameter job name =
  match List.assoc_opt name job.parameters with
  | Some value -> value
  | None -> failwith ("the parameter " ^ name ^ " is missing")

let check right what = if not right then failwith ("wrong result: " ^ what)

let timed work =
  let start = Unix.gettimeofday () in
  work ();
  Unix.gettimeofday () -. start

let target job = float_of_int job.millis /. 1e3

(* [run n] does the work [n] times and says how many seconds that took. Warms up with short runs, then measures one
   that lasts as long as asked. *)
let measure job run =
  let target = target job in
  let rec warm_up n =
    let seconds = run n in
    if seconds < Float.min (target /. 20.) 0.01 then warm_up (n * 4) else (n, seconds)
  in
  let rec long_enough n seconds =
    let n = max 1 (int_of_float (Float.ceil (float_of_int n *. 1.1 *. target /. seconds))) in
    let cpu = Sys.time () in
    let seconds = run n in
    if seconds >= 0.9 *. target then { operations = n; seconds; cpu_seconds = Sys.time () -. cpu }
    else long_enough n seconds
  in
  let n, seconds = warm_up 1 in
  long_enough n seconds

(* For work of a given size: repeats it until the time asked is over. An operation is one repetition. *)
let measure_whole job warm_up run =
  warm_up ();
  let cpu = Sys.time () in
  let rec repeat operations seconds =
    if seconds >= target job && operations > 0 then
      { operations; seconds; cpu_seconds = Sys.time () -. cpu }
    else repeat (operations + 1) (seconds +. run ())
  in
  repeat 0 0.

let each unit measured =
  { measured; value = measured.seconds *. unit /. float_of_int measured.operations; checksum = None }

let nanoseconds measured = each 1e9 measured

let milliseconds measured = each 1e3 measured

(* A field that the kernel gives in kilobytes. *)
let status field =
  let file = open_in "/proc/self/status" in
  let rec find () =
    let line = input_line file in
    if String.starts_with ~prefix:field line then
      Scanf.sscanf line "%s %d kB" (fun _ kilobytes -> kilobytes * 1024)
    else find ()
  in
  Fun.protect ~finally:(fun () -> close_in file) find

let resident_bytes () = status "VmRSS:"

let print_figures measured figures checksum =
  let figure (name, value) = Printf.sprintf "{\"name\":\"%s\",\"value\":%.4f,\"p99\":null}" name value in
  Printf.printf "{\"figures\":[%s],\"operations\":%d,\"cpu_seconds\":%.6f,\"rss_bytes\":%d%s}\n"
    (String.concat "," (List.map figure figures))
    measured.operations measured.cpu_seconds (status "VmHWM:")
    (match checksum with None -> "" | Some sum -> Printf.sprintf ",\"checksum\":%d" sum)

let print { measured; value; checksum } = print_figures measured [ ("", value) ] checksum
