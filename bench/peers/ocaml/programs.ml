(* The programs of the effect handlers' suite. Continuations are resumed once here. Where the suite resumes
   one twice, the program is run anew. *)

open Effect
open Effect.Deep

(* countdown *)

type _ Effect.t += Get : int t
type _ Effect.t += Set : int -> unit t

let countdown n =
  let rec count () =
    let now = perform Get in
    if now = 0 then now
    else (
      perform (Set (now - 1));
      count ())
  in
  let state : int ref = ref n in
  match count () with
  | result -> result
  | effect Get, k -> continue k !state
  | effect Set value, k ->
      state := value;
      continue k ()

(* fibonacci-recursive *)

let rec fibonacci n = if n < 2 then n else fibonacci (n - 1) + fibonacci (n - 2)

let handled_fibonacci n = match fibonacci n with result -> result | effect Get, k -> continue k 0

(* iterator *)

type _ Effect.t += Emit : int -> unit t

let iterator n =
  let range () =
    for number = 0 to n do
      perform (Emit number)
    done
  in
  let sum = ref 0 in
  match range () with
  | () -> !sum
  | effect Emit number, k ->
      sum := !sum + number;
      continue k ()

(* generator *)

type tree = Leaf | Node of tree * int * tree

let rec of_height = function
  | 0 -> Leaf
  | height ->
      let half = of_height (height - 1) in
      Node (half, height, half)

type generator = Empty | More of int * (unit, generator) continuation

let generator height =
  let rec walk = function
    | Leaf -> ()
    | Node (left, value, right) ->
        walk left;
        perform (Emit value);
        walk right
  in
  let rec sum total = function Empty -> total | More (value, k) -> sum (total + value) (continue k ()) in
  let tree = of_height height in
  sum 0 (match walk tree with () -> Empty | effect Emit value, k -> More (value, k))

(* handler-sieve *)

type _ Effect.t += Is_prime : int -> bool t

let sieve n =
  let rec primes number sum =
    if number >= n then sum
    else if perform (Is_prime number) then
      match primes (number + 1) (sum + number) with
      | result -> result
      | effect Is_prime other, k ->
          if other mod number = 0 then continue k false else continue k (perform (Is_prime other))
    else primes (number + 1) sum
  in
  match primes 2 0 with result -> result | effect Is_prime _, k -> continue k true

(* product-early: by an exception, as the suite has it in OCaml *)

exception Done of int

let product_early n =
  let rec product = function [] -> 0 | 0 :: _ -> raise (Done 0) | first :: rest -> first * product rest in
  let list = List.init 1001 (fun i -> 1000 - i) in
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + (try product list with Done result -> result)
  done;
  !sum

(* parsing-dollars *)

type _ Effect.t += Read : int t

exception Stop

let newline = 10
let dollar = 36

let parsing_dollars n =
  let rec parse dollars =
    let c = perform Read in
    if c = dollar then parse (dollars + 1)
    else if c = newline then (
      perform (Emit dollars);
      parse 0)
    else raise Stop
  in
  let feed () =
    let line = ref 0 and left = ref 0 in
    match parse 0 with
    | () -> ()
    | effect Read, k ->
        if !line > n then discontinue k Stop
        else if !left = 0 then (
          incr line;
          left := !line;
          continue k newline)
        else (
          decr left;
          continue k dollar)
  in
  let sum = ref 0 in
  match try feed () with Stop -> () with
  | () -> !sum
  | effect Emit dollars, k ->
      sum := !sum + dollars;
      continue k ()

(* resume-nontail *)

type _ Effect.t += Operator : int -> unit t

let operator x y = abs (x - (503 * y) + 37) mod 1009

let resume_nontail n =
  let run seed =
    let rec loop i =
      if i = 0 then seed
      else (
        perform (Operator i);
        loop (i - 1))
    in
    match loop n with
    | result -> result
    | effect Operator x, k ->
        let y = continue k () in
        operator x y
  in
  let seed = ref 0 in
  for _ = 1 to 1000 do
    seed := run !seed
  done;
  !seed

(* Search: each possibility is run anew from its beginning, with the choices that lead to it. *)

type _ Effect.t += Choose : int -> int t
type _ Effect.t += Turn : int -> int t

exception Fail

type path = { mutable taken : (int * int) array; mutable length : int; mutable position : int }

let new_path () = { taken = Array.make 1024 (0, 0); length = 0; position = 0 }

(* Which of [options] options to take now, and whether no run has taken it here before. *)
let choose path options =
  if path.position = path.length then (
    path.taken.(path.length) <- (0, options);
    path.length <- path.length + 1);
  let option, _ = path.taken.(path.position) in
  path.position <- path.position + 1;
  (option, path.position >= path.length)

(* Goes on to the next possibility, if there are more. *)
let rec advance path =
  path.position <- 0;
  path.length > 0
  &&
  let option, options = path.taken.(path.length - 1) in
  if option + 1 < options then (
    path.taken.(path.length - 1) <- (option + 1, options);
    true)
  else (
    path.length <- path.length - 1;
    advance path)

let search body found =
  let path = new_path () in
  let more = ref true in
  while !more do
    (match body () with
    | result -> found result
    | exception Fail -> ()
    | effect Choose options, k -> continue k (fst (choose path options)));
    more := advance path
  done

let nqueens n =
  let rec safe row columns = function
    | [] -> true
    | other :: rest ->
        row <> other && row <> other + columns && row <> other - columns && safe row (columns + 1) rest
  in
  let rec place column =
    if column = 0 then []
    else
      let rest = place (column - 1) in
      let row = perform (Choose n) + 1 in
      if safe row 1 rest then row :: rest else raise Fail
  in
  let solutions = ref 0 in
  search (fun () -> place n) (fun _ -> incr solutions);
  !solutions

let triples n =
  let rec choice n = if n < 1 then raise Fail else if perform (Choose 2) = 0 then n else choice (n - 1) in
  let triple () =
    let i = choice n in
    let j = choice (i - 1) in
    let k = choice (j - 1) in
    if i + j + k = n then (i, j, k) else raise Fail
  in
  let sum = ref 0 in
  search triple (fun (a, b, c) ->
      let hash = ((53 * a) + (2809 * b) + (148877 * c)) mod 1_000_000_007 in
      sum := (!sum + hash) mod 1_000_000_007);
  !sum

let tree_explore height =
  let tree = of_height height in
  let state = ref 0 in
  let rec explore = function
    | Leaf -> !state
    | Node (left, value, right) ->
        let next = if perform (Turn value) = 0 then left else right in
        operator value (explore next)
  in
  for _ = 1 to 10 do
    let path = new_path () and greatest = ref 0 and more = ref true in
    while !more do
      (match explore tree with
      | result -> greatest := max !greatest result
      | effect Turn value, k ->
          let option, is_new = choose path 2 in
          if is_new then state := operator !state value;
          continue k option);
      more := advance path
    done;
    state := !greatest
  done;
  !state

(* chameneos *)

type colour = Blue | Red | Yellow
type _ Effect.t += Meet : colour -> colour option t
type creature = Ended of int | Asks of colour * (colour option, creature) continuation

let changed own other =
  match (own, other) with
  | Blue, Blue | Red, Yellow | Yellow, Red -> Blue
  | Red, Red | Blue, Yellow | Yellow, Blue -> Red
  | Yellow, Yellow | Blue, Red | Red, Blue -> Yellow

let chameneos n =
  let rec live colour meetings =
    match perform (Meet colour) with
    | Some other -> live (changed colour other) (meetings + 1)
    | None -> meetings
  in
  let start colour () =
    match live colour 0 with meetings -> Ended meetings | effect Meet colour, k -> Asks (colour, k)
  in
  let ready = Queue.create () in
  List.iter
    (fun colour -> Queue.add (start colour) ready)
    [ Blue; Red; Yellow; Red; Yellow; Blue; Red; Yellow; Red; Blue ];
  let left = ref n and waiting = ref None and sum = ref 0 in
  let go_on k other = Queue.add (fun () -> continue k other) ready in
  let rec run () =
    match Queue.take_opt ready with
    | Some step ->
        (match step () with
        | Ended meetings -> sum := !sum + meetings
        | Asks (_, k) when !left = 0 -> go_on k None
        | Asks (colour, k) -> (
            match !waiting with
            | None -> waiting := Some (colour, k)
            | Some (its, other) ->
                waiting := None;
                decr left;
                go_on other (Some colour);
                go_on k (Some its)));
        run ()
    | None -> (
        left := 0;
        match !waiting with
        | None -> ()
        | Some (_, k) ->
            waiting := None;
            go_on k None;
            run ())
  in
  run ();
  !sum
