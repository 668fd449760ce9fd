(* A cache that all domains share, behind a mutex: it keeps the entries that were used last. *)

open Harness

(* How many times each entry is asked for on average. *)
let times = 2

type value = { number : int; second : int; third : int; fourth : int }

(* [Nothing] is no block, so that a link takes one word. *)
type entry =
  | Nothing
  | Entry of { key : int; value : value; mutable older : entry; mutable newer : entry; mutable next : entry }

type cache = { lock : Mutex.t; buckets : entry array; mutable newest : entry; mutable oldest : entry }

let make entries =
  let rec power size = if size < entries then power (size * 2) else size in
  { lock = Mutex.create (); buckets = Array.make (power 1) Nothing; newest = Nothing; oldest = Nothing }

let bucket cache key = key land (Array.length cache.buckets - 1)

let push cache = function
  | Nothing -> ()
  | Entry links as entry ->
      links.older <- cache.newest;
      links.newer <- Nothing;
      (match cache.newest with Nothing -> cache.oldest <- entry | Entry newest -> newest.newer <- entry);
      cache.newest <- entry

let unlink cache = function
  | Nothing -> ()
  | Entry { older; newer; _ } ->
      (match older with Nothing -> cache.oldest <- newer | Entry older -> older.newer <- newer);
      (match newer with Nothing -> cache.newest <- older | Entry newer -> newer.older <- older)

let evict cache =
  match cache.oldest with
  | Nothing -> ()
  | Entry { key; next; _ } as oldest ->
      unlink cache oldest;
      let at = bucket cache key in
      let rec cut = function
        | Entry entry when entry.next == oldest -> entry.next <- next
        | Entry entry -> cut entry.next
        | Nothing -> ()
      in
      if cache.buckets.(at) == oldest then cache.buckets.(at) <- next else cut cache.buckets.(at)

let insert cache key =
  let at = bucket cache key in
  let value = { number = key; second = 0; third = 0; fourth = 0 } in
  let entry = Entry { key; value; older = Nothing; newer = Nothing; next = cache.buckets.(at) } in
  cache.buckets.(at) <- entry;
  push cache entry

let rec find key = function
  | Entry entry when entry.key <> key -> find key entry.next
  | found -> found

(* The first number of the value, if the key is found, and 0. *)
let look_up cache key =
  Mutex.lock cache.lock;
  let number =
    match find key cache.buckets.(bucket cache key) with
    | Nothing ->
        evict cache;
        insert cache key;
        0
    | Entry { value; _ } as entry ->
        if cache.newest != entry then begin
          unlink cache entry;
          push cache entry
        end;
        value.number
  in
  Mutex.unlock cache.lock;
  number

let lru job =
  Heap.set_memory job;
  let entries = parameter job "entries" in
  let cache = make entries in
  for key = 0 to entries - 1 do
    insert cache key
  done;
  let each = times * entries / job.workers in
  let ask me =
    let random = ref me and sum = ref 0 in
    for _ = 1 to each do
      (* Numbers have 63 bits here: the lower ones of those of the other systems. *)
      random := (!random * 0x5851F42D4C957F2D) + 1442695040888963407;
      sum := !sum + look_up cache (!random lsr 20 land 0xffffffff mod (2 * entries))
    done;
    !sum
  in
  let sum = ref 0 and cpu = Sys.time () in
  let seconds = timed (fun () -> sum := List.fold_left ( + ) 0 (Heap.on_domains job.workers ask)) in
  let measured = { operations = each * job.workers; seconds; cpu_seconds = Sys.time () -. cpu } in
  { (nanoseconds measured) with checksum = (if job.workers = 1 then Some !sum else None) }
