// Which copy of a name is used. The layer decides first, in the order that the user chose; in one layer the higher
// priority, then the order of sources, then the path. In the plugin layer the source named later comes first, and sources
// fetched from other servers come after all others, in the order named. A copy that is left out, for a fault or because
// this viewer may not see it, keeps its name: `holder` is the highest layer of those.
//
// `source` is the position of the copy's source among those named, `path` that of its path in the order of texts.

include "Text.dfy"

module Layers {
  import opened Text

  datatype Layer = Enterprise | Personal | Project | Plugin
  datatype Order = PersonalFirst | ProjectFirst
  datatype Copy = Copy(layer: Layer, priority: int, fetched: bool, source: nat, path: nat)

  // 0 is the highest layer.
  function method Rank(layer: Layer, order: Order): nat {
    match layer
    case Enterprise => 0
    case Personal => if order.PersonalFirst? then 1 else 2
    case Project => if order.PersonalFirst? then 2 else 1
    case Plugin => 3
  }

  predicate method SourcePrecedes(a: Copy, b: Copy) {
    if a.layer.Plugin? && a.fetched != b.fetched then b.fetched
    else if a.layer.Plugin? && !a.fetched then a.source > b.source
    else a.source < b.source
  }

  predicate method Precedes(a: Copy, b: Copy, order: Order) {
    if a.layer != b.layer then Rank(a.layer, order) < Rank(b.layer, order)
    else if a.priority != b.priority then a.priority > b.priority
    else if a.source != b.source then SourcePrecedes(a, b)
    else a.path < b.path
  }

  predicate method MayAnswer(copy: Copy, holder: Option<Layer>, order: Order) {
    holder.None? || Rank(copy.layer, order) <= Rank(holder.value, order)
  }

  // A source has one path once, and is fetched or not.
  predicate Distinct(copies: seq<Copy>) {
    forall i, j :: 0 <= i < j < |copies| && copies[i].source == copies[j].source ==>
      copies[i].path != copies[j].path && copies[i].fetched == copies[j].fetched
  }

  predicate IsWinner(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int) {
    0 <= w < |copies| && MayAnswer(copies[w], holder, order) &&
    forall j :: 0 <= j < |copies| && j != w && MayAnswer(copies[j], holder, order) ==>
      Precedes(copies[w], copies[j], order)
  }

  method Winner(copies: seq<Copy>, holder: Option<Layer>, order: Order) returns (w: Option<nat>)
    requires Distinct(copies)
    ensures w.Some? ==> IsWinner(copies, holder, order, w.value)
    ensures w.None? ==> forall j :: 0 <= j < |copies| ==> !MayAnswer(copies[j], holder, order)
  {
    w := None;
    var i := 0;
    while i < |copies|
      invariant 0 <= i <= |copies|
      invariant w.None? ==> forall j :: 0 <= j < i ==> !MayAnswer(copies[j], holder, order)
      invariant w.Some? ==> w.value < i && MayAnswer(copies[w.value], holder, order)
      invariant w.Some? ==> forall j :: 0 <= j < i && j != w.value && MayAnswer(copies[j], holder, order) ==>
        Precedes(copies[w.value], copies[j], order)
    {
      if MayAnswer(copies[i], holder, order) && (w.None? || Precedes(copies[i], copies[w.value], order)) {
        w := Some(i);
      }
      i := i + 1;
    }
  }

  lemma OneOfTwoPrecedes(copies: seq<Copy>, i: int, j: int, order: Order)
    requires Distinct(copies) && 0 <= i < j < |copies|
    ensures Precedes(copies[i], copies[j], order) != Precedes(copies[j], copies[i], order)
  {
  }

  lemma PrecedenceIsTransitive(copies: seq<Copy>, i: int, j: int, k: int, order: Order)
    requires Distinct(copies) && 0 <= i < |copies| && 0 <= j < |copies| && 0 <= k < |copies|
    requires Precedes(copies[i], copies[j], order) && Precedes(copies[j], copies[k], order)
    ensures Precedes(copies[i], copies[k], order)
  {
  }

  lemma TheWinnerIsUnique(copies: seq<Copy>, holder: Option<Layer>, order: Order, a: int, b: int)
    requires IsWinner(copies, holder, order, a) && IsWinner(copies, holder, order, b)
    ensures a == b
  {
    if a != b {
      assert Precedes(copies[a], copies[b], order) && Precedes(copies[b], copies[a], order);
    }
  }

  // So no priority, source or path is worth a layer.
  lemma TheWinnerIsNeverOfALowerLayer(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int, j: int)
    requires IsWinner(copies, holder, order, w) && 0 <= j < |copies|
    ensures Rank(copies[w].layer, order) <= Rank(copies[j].layer, order)
  {
    if j != w && MayAnswer(copies[j], holder, order) {
      assert Precedes(copies[w], copies[j], order);
    }
  }

  lemma EnterpriseIsFirstWhateverTheOrder(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int, j: int)
    requires IsWinner(copies, holder, order, w) && 0 <= j < |copies| && copies[j].layer.Enterprise?
    ensures copies[w].layer.Enterprise?
  {
    TheWinnerIsNeverOfALowerLayer(copies, holder, order, w, j);
  }

  lemma PluginsAreLastWhateverTheOrder(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int, j: int)
    requires IsWinner(copies, holder, order, w) && copies[w].layer.Plugin? && 0 <= j < |copies|
    ensures copies[j].layer.Plugin?
  {
    TheWinnerIsNeverOfALowerLayer(copies, holder, order, w, j);
  }

  predicate HasNo(copies: seq<Copy>, layer: Layer) { forall i :: 0 <= i < |copies| ==> copies[i].layer != layer }

  // The setting concerns names that a person and a project both have, and no others.
  lemma TheOrderConcernsPersonalAndProjectAlone(copies: seq<Copy>, w: int)
    requires HasNo(copies, Personal) || HasNo(copies, Project)
    requires IsWinner(copies, None, PersonalFirst, w)
    ensures IsWinner(copies, None, ProjectFirst, w)
  {
    forall j | 0 <= j < |copies| && j != w ensures Precedes(copies[w], copies[j], ProjectFirst) {
      assert MayAnswer(copies[j], None, PersonalFirst);
      assert Precedes(copies[w], copies[j], PersonalFirst);
    }
  }

  lemma InOneLayerTheHigherPriorityWins(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int, j: int)
    requires IsWinner(copies, holder, order, w) && 0 <= j < |copies| && copies[j].layer == copies[w].layer
    ensures copies[w].priority >= copies[j].priority
  {
    if j != w {
      assert MayAnswer(copies[j], holder, order);
      assert Precedes(copies[w], copies[j], order);
    }
  }

  lemma TheLaterPluginWins(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int, j: int)
    requires IsWinner(copies, holder, order, w) && copies[w].layer.Plugin? && 0 <= j < |copies|
    requires copies[j].priority == copies[w].priority && !copies[j].fetched && !copies[w].fetched
    ensures copies[w].source >= copies[j].source
  {
    if j != w {
      PluginsAreLastWhateverTheOrder(copies, holder, order, w, j);
      assert MayAnswer(copies[j], holder, order);
      assert Precedes(copies[w], copies[j], order);
    }
  }

  // A copy of a higher layer that is left out hands its name to nobody below.
  lemma AHeldNameStaysInItsLayer(copies: seq<Copy>, holder: Layer, order: Order, w: int)
    requires IsWinner(copies, Some(holder), order, w)
    ensures Rank(copies[w].layer, order) <= Rank(holder, order)
  {
  }

  // Whoever writes a project cannot change what answers to a name that a higher layer has.
  lemma WhatIsAddedBelowChangesNothing(copies: seq<Copy>, added: Copy, holder: Option<Layer>, order: Order, w: int)
    requires IsWinner(copies, holder, order, w) && Rank(added.layer, order) > Rank(copies[w].layer, order)
    ensures IsWinner(copies + [added], holder, order, w)
  {
    var more := copies + [added];
    forall j | 0 <= j < |more| && j != w && MayAnswer(more[j], holder, order) ensures Precedes(more[w], more[j], order) {
      if j < |copies| {
        assert Precedes(copies[w], copies[j], order);
      }
    }
  }

  lemma WhatIsAddedAboveWins(copies: seq<Copy>, added: Copy, holder: Option<Layer>, order: Order, w: int)
    requires IsWinner(copies, holder, order, w) && Rank(added.layer, order) < Rank(copies[w].layer, order)
    ensures IsWinner(copies + [added], holder, order, |copies|)
  {
    var more := copies + [added];
    forall j | 0 <= j < |copies| && MayAnswer(more[j], holder, order) ensures Precedes(added, more[j], order) {
      TheWinnerIsNeverOfALowerLayer(copies, holder, order, w, j);
    }
  }

  predicate InOrder(copies: seq<Copy>, order: Order) {
    forall i, j :: 0 <= i < j < |copies| ==> Precedes(copies[i], copies[j], order)
  }

  // If the copies are in the order of precedence already, the first that may answer is the winner.
  lemma TheFirstInOrderWins(copies: seq<Copy>, holder: Option<Layer>, order: Order, w: int)
    requires InOrder(copies, order) && 0 <= w < |copies| && MayAnswer(copies[w], holder, order)
    requires forall j :: 0 <= j < w ==> !MayAnswer(copies[j], holder, order)
    ensures IsWinner(copies, holder, order, w)
  {
  }
}
