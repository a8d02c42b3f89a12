// What a session remembers: which skills are active, and which activation runs inside which. Every step is allowed and
// gives the next state, or is refused and changes nothing. Runtime protocol 002, load and unload.

include "Text.dfy"

module Activation {
  import opened Text

  type Key = nat

  datatype Mode = Replace | Add

  // Oldest first. The stack holds activations that run inside each other, the outermost first.
  datatype State = State(active: seq<Key>, stack: seq<Key>)

  datatype Event = Load(keys: seq<Key>, mode: Mode) | Unload(gone: seq<Key>) | Enter(inner: Key) | Read(from: Key) | Run(of: Key)

  predicate IsValidState(s: State, cap: nat, depth: nat) {
    |s.active| <= cap && NoDuplicates(s.active) && |s.stack| <= depth && NoDuplicates(s.stack) &&
    forall k :: k in s.stack ==> k in s.active
  }

  // ── sequences without repetition ──

  function method Distinct(keys: seq<Key>): seq<Key>
    ensures NoDuplicates(Distinct(keys))
    ensures forall k :: k in Distinct(keys) <==> k in keys
    decreases |keys|
  {
    if |keys| == 0 then []
    else
      var front := Distinct(keys[..|keys| - 1]);
      var last := keys[|keys| - 1];
      assert keys == keys[..|keys| - 1] + [last];
      if last in front then front else front + [last]
  }

  function method Without(keys: seq<Key>, gone: seq<Key>): seq<Key>
    ensures forall k :: k in Without(keys, gone) <==> k in keys && k !in gone
    ensures NoDuplicates(keys) ==> NoDuplicates(Without(keys, gone))
    ensures |Without(keys, gone)| <= |keys|
    decreases |keys|
  {
    if |keys| == 0 then []
    else
      var rest := Without(keys[1..], gone);
      assert keys == [keys[0]] + keys[1..];
      if keys[0] in gone then rest else [keys[0]] + rest
  }

  function method Among(keys: seq<Key>, those: seq<Key>): seq<Key>
    ensures forall k :: k in Among(keys, those) <==> k in keys && k in those
    ensures NoDuplicates(keys) ==> NoDuplicates(Among(keys, those))
    ensures |Among(keys, those)| <= |keys|
    decreases |keys|
  {
    if |keys| == 0 then []
    else
      var rest := Among(keys[1..], those);
      assert keys == [keys[0]] + keys[1..];
      if keys[0] in those then [keys[0]] + rest else rest
  }

  // ── the steps ──

  function method ActiveAfter(s: State, keys: seq<Key>, mode: Mode): seq<Key> {
    if mode == Replace then Distinct(keys) else s.active + Without(Distinct(keys), s.active)
  }

  function method Loaded(s: State, keys: seq<Key>, mode: Mode, cap: nat): Option<State> {
    var active := ActiveAfter(s, keys, mode);
    if |active| > cap then None else Some(State(active, Among(s.stack, active)))
  }

  function method Unloaded(s: State, gone: seq<Key>): State {
    var active := Without(s.active, gone);
    State(active, Among(s.stack, active))
  }

  // An activation inside the one that runs: refused in a circle, and below `depth` others.
  function method Entered(s: State, key: Key, cap: nat, depth: nat): Option<State> {
    if key in s.stack || |s.stack| >= depth then None
    else
      var next := Loaded(s, [key], Add, cap);
      if next.None? then None else Some(State(next.value.active, s.stack + [key]))
  }

  predicate method MayUse(s: State, key: Key) { key in s.active }

  function method Next(s: State, e: Event, cap: nat, depth: nat): Option<State> {
    match e
    case Load(keys, mode) => Loaded(s, keys, mode, cap)
    case Unload(gone) => Some(Unloaded(s, gone))
    case Enter(inner) => Entered(s, inner, cap, depth)
    case Read(from) => if MayUse(s, from) then Some(s) else None
    case Run(of) => if MayUse(s, of) then Some(s) else None
  }

  function method After(s: State, e: Event, cap: nat, depth: nat): State {
    var next := Next(s, e, cap, depth);
    if next.Some? then next.value else s
  }

  function method Empty(): State { State([], []) }

  function Replay(events: seq<Event>, cap: nat, depth: nat): State
    decreases |events|
  {
    if |events| == 0 then Empty()
    else After(Replay(events[..|events| - 1], cap, depth), events[|events| - 1], cap, depth)
  }

  // ── what always holds ──

  lemma LoadingKeepsStatesValid(s: State, keys: seq<Key>, mode: Mode, cap: nat, depth: nat)
    requires IsValidState(s, cap, depth) && Loaded(s, keys, mode, cap).Some?
    ensures IsValidState(Loaded(s, keys, mode, cap).value, cap, depth)
    ensures forall k :: k in keys ==> k in Loaded(s, keys, mode, cap).value.active
    ensures mode == Add ==> Loaded(s, keys, mode, cap).value.stack == s.stack
  {
    var active := ActiveAfter(s, keys, mode);
    if mode == Add {
      TogetherWithoutDuplicates(s.active, Without(Distinct(keys), s.active));
      AllAmong(s.stack, active);
    }
  }

  lemma TogetherWithoutDuplicates(a: seq<Key>, b: seq<Key>)
    requires NoDuplicates(a) && NoDuplicates(b) && forall k :: k in b ==> k !in a
    ensures NoDuplicates(a + b)
  {
    var both := a + b;
    forall i, j | 0 <= i < j < |both| ensures both[i] != both[j] {
      if i >= |a| {
        assert both[i] == b[i - |a|] && both[j] == b[j - |a|];
      } else if j >= |a| {
        assert both[j] == b[j - |a|] && both[j] in b && both[i] in a;
      }
    }
  }

  lemma AllAmong(keys: seq<Key>, those: seq<Key>)
    requires forall k :: k in keys ==> k in those
    ensures Among(keys, those) == keys
    decreases |keys|
  {
    if |keys| > 0 {
      assert keys == [keys[0]] + keys[1..];
      AllAmong(keys[1..], those);
    }
  }

  // The cap is never exceeded and nothing is active twice, whatever happens.
  lemma EveryStepKeepsStatesValid(s: State, e: Event, cap: nat, depth: nat)
    requires IsValidState(s, cap, depth)
    ensures IsValidState(After(s, e, cap, depth), cap, depth)
  {
    match e
    case Load(keys, mode) =>
      if Loaded(s, keys, mode, cap).Some? { LoadingKeepsStatesValid(s, keys, mode, cap, depth); }
    case Unload(gone) =>
    case Enter(inner) =>
      if Entered(s, inner, cap, depth).Some? { LoadingKeepsStatesValid(s, [inner], Add, cap, depth); }
    case Read(from) =>
    case Run(of) =>
  }

  lemma EverySessionIsValid(events: seq<Event>, cap: nat, depth: nat)
    ensures IsValidState(Replay(events, cap, depth), cap, depth)
    decreases |events|
  {
    if |events| > 0 {
      EverySessionIsValid(events[..|events| - 1], cap, depth);
      EveryStepKeepsStatesValid(Replay(events[..|events| - 1], cap, depth), events[|events| - 1], cap, depth);
    }
  }

  lemma WhatIsRefusedChangesNothing(s: State, e: Event, cap: nat, depth: nat)
    requires Next(s, e, cap, depth).None?
    ensures After(s, e, cap, depth) == s
  {
  }

  lemma ReadAndRunNeedAnActiveSkill(s: State, key: Key, cap: nat, depth: nat)
    ensures Next(s, Read(key), cap, depth).Some? <==> key in s.active
    ensures Next(s, Run(key), cap, depth).Some? <==> key in s.active
    ensures After(s, Read(key), cap, depth) == s && After(s, Run(key), cap, depth) == s
  {
  }

  predicate Activates(e: Event, key: Key) {
    (e.Load? && key in e.keys) || (e.Enter? && e.inner == key)
  }

  // Whatever is active was asked for: nothing becomes readable by itself.
  lemma ActiveMeansAskedFor(events: seq<Event>, key: Key, cap: nat, depth: nat) returns (when: nat)
    requires key in Replay(events, cap, depth).active
    ensures when < |events| && Activates(events[when], key)
    decreases |events|
  {
    var last := |events| - 1;
    var before := Replay(events[..last], cap, depth);
    if key in before.active {
      when := ActiveMeansAskedFor(events[..last], key, cap, depth);
    } else {
      when := last;
    }
  }

  lemma UnloadedIsUnusable(s: State, gone: seq<Key>, key: Key)
    requires key in gone
    ensures !MayUse(Unloaded(s, gone), key) && key !in Unloaded(s, gone).stack
  {
  }

  lemma ReplaceLeavesExactlyThese(s: State, keys: seq<Key>, cap: nat)
    requires Loaded(s, keys, Replace, cap).Some?
    ensures forall k :: k in Loaded(s, keys, Replace, cap).value.active <==> k in keys
  {
  }

  // `add` keeps everyone's place; to load again changes nothing.
  lemma AddingKeepsPlaces(s: State, keys: seq<Key>, cap: nat)
    requires Loaded(s, keys, Add, cap).Some?
    ensures var after := Loaded(s, keys, Add, cap).value.active; |s.active| <= |after| && after[..|s.active|] == s.active
  {
  }

  lemma LoadingAgainChangesNothing(s: State, keys: seq<Key>, cap: nat, depth: nat)
    requires IsValidState(s, cap, depth) && forall k :: k in keys ==> k in s.active
    ensures Loaded(s, keys, Add, cap) == Some(s)
  {
    NothingIsLeft(Distinct(keys), s.active);
    AllAmong(s.stack, s.active);
    assert s.active + [] == s.active;
  }

  lemma NothingIsLeft(keys: seq<Key>, gone: seq<Key>)
    requires forall k :: k in keys ==> k in gone
    ensures Without(keys, gone) == []
    decreases |keys|
  {
    if |keys| > 0 {
      assert keys == [keys[0]] + keys[1..];
      NothingIsLeft(keys[1..], gone);
    }
  }

  // No skill runs inside itself.
  lemma NoActivationInsideItself(s: State, key: Key, cap: nat, depth: nat)
    requires key in s.stack
    ensures Entered(s, key, cap, depth).None?
  {
  }
}
