// Which copy of a name is used: the one of the highest layer, and of one layer the one found first. Rank 0 is the
// highest layer. A skill that is skipped for a fault keeps its name: `holder` is the rank of the highest of those.

include "Text.dfy"

module Layers {
  import opened Text

  datatype Copy = Copy(rank: nat)

  predicate method MayAnswer(copy: Copy, holder: Option<nat>) { holder.None? || copy.rank <= holder.value }

  predicate Precedes(copies: seq<Copy>, i: int, j: int)
    requires 0 <= i < |copies| && 0 <= j < |copies|
  {
    copies[i].rank < copies[j].rank || (copies[i].rank == copies[j].rank && i < j)
  }

  predicate IsWinner(copies: seq<Copy>, holder: Option<nat>, w: int) {
    0 <= w < |copies| && MayAnswer(copies[w], holder) &&
    forall j :: 0 <= j < |copies| && j != w && MayAnswer(copies[j], holder) ==> Precedes(copies, w, j)
  }

  method Winner(copies: seq<Copy>, holder: Option<nat>) returns (w: Option<nat>)
    ensures w.Some? ==> IsWinner(copies, holder, w.value)
    ensures w.None? ==> forall j :: 0 <= j < |copies| ==> !MayAnswer(copies[j], holder)
  {
    w := None;
    var i := 0;
    while i < |copies|
      invariant 0 <= i <= |copies|
      invariant w.None? ==> forall j :: 0 <= j < i ==> !MayAnswer(copies[j], holder)
      invariant w.Some? ==> w.value < i && MayAnswer(copies[w.value], holder)
      invariant w.Some? ==> forall j :: 0 <= j < i && j != w.value && MayAnswer(copies[j], holder) ==>
        Precedes(copies, w.value, j)
    {
      if MayAnswer(copies[i], holder) && (w.None? || copies[i].rank < copies[w.value].rank) {
        w := Some(i);
      }
      i := i + 1;
    }
  }

  lemma TheWinnerIsUnique(copies: seq<Copy>, holder: Option<nat>, a: int, b: int)
    requires IsWinner(copies, holder, a) && IsWinner(copies, holder, b)
    ensures a == b
  {
    if a != b {
      assert Precedes(copies, a, b) && Precedes(copies, b, a);
    }
  }

  lemma TheWinnerIsNeverOfALowerLayer(copies: seq<Copy>, holder: Option<nat>, w: int, j: int)
    requires IsWinner(copies, holder, w) && 0 <= j < |copies|
    ensures copies[w].rank <= copies[j].rank
  {
    if j != w && MayAnswer(copies[j], holder) {
      assert Precedes(copies, w, j);
    }
  }

  // A fault in a skill of a higher layer hands its name to nobody below.
  lemma AHeldNameStaysInItsLayer(copies: seq<Copy>, holder: nat, w: int)
    requires IsWinner(copies, Some(holder), w)
    ensures copies[w].rank <= holder
  {
  }

  // Whoever writes a project cannot change what answers to a name that a higher layer has.
  lemma WhatIsAddedBelowChangesNothing(copies: seq<Copy>, added: Copy, holder: Option<nat>, w: int)
    requires IsWinner(copies, holder, w) && added.rank > copies[w].rank
    ensures IsWinner(copies + [added], holder, w)
  {
    var more := copies + [added];
    forall j | 0 <= j < |more| && j != w && MayAnswer(more[j], holder) ensures Precedes(more, w, j) {
      if j < |copies| {
        assert Precedes(copies, w, j);
      }
    }
  }

  lemma WhatIsAddedAboveWins(copies: seq<Copy>, added: Copy, holder: Option<nat>, w: int)
    requires IsWinner(copies, holder, w) && added.rank < copies[w].rank
    ensures IsWinner(copies + [added], holder, |copies|)
  {
    var more := copies + [added];
    forall j | 0 <= j < |copies| && MayAnswer(more[j], holder) ensures Precedes(more, |copies|, j) {
      TheWinnerIsNeverOfALowerLayer(copies, holder, w, j);
    }
  }

  predicate InOrder(copies: seq<Copy>) { forall i, j :: 0 <= i < j < |copies| ==> copies[i].rank <= copies[j].rank }

  // Where copies are in the order of layers already, the first that may answer is the winner.
  lemma TheFirstInOrderWins(copies: seq<Copy>, holder: Option<nat>, w: int)
    requires InOrder(copies) && 0 <= w < |copies| && MayAnswer(copies[w], holder)
    requires forall j :: 0 <= j < w ==> !MayAnswer(copies[j], holder)
    ensures IsWinner(copies, holder, w)
  {
  }
}
