// The three roles and their arithmetic: GF(3), the integers modulo 3. Formal specification 000, parts 4 and 11.

module GF3 {
  type Elem = x: int | 0 <= x < 3 witness 0

  datatype Role = Coordinator | Generator | Verifier

  function method Add(a: Elem, b: Elem): Elem { if a + b >= 3 then a + b - 3 else a + b }

  function method Neg(a: Elem): Elem { if a == 0 then 0 else 3 - a }

  function method Sub(a: Elem, b: Elem): Elem { if a >= b then a - b else a - b + 3 }

  function method Mul(a: Elem, b: Elem): Elem {
    if a == 0 || b == 0 then 0 else if a == b then 1 else 2
  }

  function method Inv(a: Elem): Elem
    requires a != 0
  { a }

  // ── the laws of a field ──

  lemma MulIsMultiplication(a: Elem, b: Elem)
    ensures Mul(a, b) == (a * b) % 3
  {
    if a == 0 { } else if a == 1 { } else { assert a * b == 2 * b; }
  }

  lemma AddIsAddition(a: Elem, b: Elem)
    ensures Add(a, b) == (a + b) % 3
    ensures Sub(a, b) == (a - b) % 3
  {
  }

  lemma AddIsAGroup(a: Elem, b: Elem, c: Elem)
    ensures Add(a, b) == Add(b, a)
    ensures Add(Add(a, b), c) == Add(a, Add(b, c))
    ensures Add(a, 0) == a
    ensures Add(a, Neg(a)) == 0
    ensures Sub(a, b) == Add(a, Neg(b))
    ensures Neg(Neg(a)) == a
  {
  }

  lemma MulIsAGroup(a: Elem, b: Elem, c: Elem)
    ensures Mul(a, b) == Mul(b, a)
    ensures Mul(Mul(a, b), c) == Mul(a, Mul(b, c))
    ensures Mul(a, 1) == a
    ensures a != 0 ==> Mul(a, Inv(a)) == 1
    ensures Mul(a, b) == 0 <==> a == 0 || b == 0
  {
  }

  lemma MulDistributes(a: Elem, b: Elem, c: Elem)
    ensures Mul(a, Add(b, c)) == Add(Mul(a, b), Mul(a, c))
    ensures Mul(2, a) == Neg(a)
  {
  }

  lemma ThriceIsNothing(a: Elem)
    ensures Add(a, Add(a, a)) == 0
  {
  }

  // ── writing and roles ──

  function method ToBalanced(a: Elem): int { if a == 2 then -1 else a }

  function method FromBalanced(b: int): Elem
    requires -1 <= b <= 1
  { if b == -1 then 2 else b }

  function method ElemToRole(a: Elem): Role {
    if a == 0 then Coordinator else if a == 1 then Generator else Verifier
  }

  function method RoleToElem(r: Role): Elem {
    match r
    case Coordinator => 0
    case Generator => 1
    case Verifier => 2
  }

  lemma WritingLosesNothing(a: Elem, r: Role)
    ensures FromBalanced(ToBalanced(a)) == a
    ensures (ToBalanced(a) - a) % 3 == 0
    ensures RoleToElem(ElemToRole(a)) == a
    ensures ElemToRole(RoleToElem(r)) == r
  {
  }

  lemma RolesOfTheTrits(r: Role)
    ensures ToBalanced(RoleToElem(r)) == (if r.Generator? then 1 else if r.Coordinator? then 0 else -1)
  {
    match r
    case Coordinator =>
    case Generator =>
    case Verifier =>
  }

  // ── sums and balance ──

  function method SeqSum(s: seq<Elem>): Elem
    decreases |s|
  {
    if |s| == 0 then 0 else Add(s[0], SeqSum(s[1..]))
  }

  function IntSum(s: seq<Elem>): int
    decreases |s|
  {
    if |s| == 0 then 0 else s[0] + IntSum(s[1..])
  }

  predicate method IsBalanced(s: seq<Elem>) { SeqSum(s) == 0 }

  predicate method IsBalancedTriple(a: Elem, b: Elem, c: Elem) { Add(Add(a, b), c) == 0 }

  predicate method IsBalancedQuad(a: Elem, b: Elem, c: Elem, d: Elem) { Add(Add(Add(a, b), c), d) == 0 }

  // The trit that a set lacks.
  function method FindBalancer(s: seq<Elem>): Elem { Neg(SeqSum(s)) }

  method Sum(s: seq<Elem>) returns (sum: Elem)
    ensures sum == SeqSum(s)
  {
    sum := 0;
    var i := |s|;
    while i > 0
      invariant 0 <= i <= |s|
      invariant sum == SeqSum(s[i..])
    {
      i := i - 1;
      assert s[i..][1..] == s[i + 1..];
      sum := Add(s[i], sum);
    }
    assert s[0..] == s;
  }

  lemma SumIsTheSumModuloThree(s: seq<Elem>)
    ensures SeqSum(s) == IntSum(s) % 3
    ensures IsBalanced(s) <==> IntSum(s) % 3 == 0
    decreases |s|
  {
    if |s| > 0 {
      SumIsTheSumModuloThree(s[1..]);
      AddIsAddition(s[0], SeqSum(s[1..]));
    }
  }

  lemma SumOfBoth(a: seq<Elem>, b: seq<Elem>)
    ensures SeqSum(a + b) == Add(SeqSum(a), SeqSum(b))
    decreases |a|
  {
    if |a| == 0 {
      assert a + b == b;
    } else {
      assert (a + b)[1..] == a[1..] + b;
      SumOfBoth(a[1..], b);
    }
  }

  lemma SumOfOneMore(a: Elem, s: seq<Elem>)
    ensures SeqSum([a] + s) == Add(a, SeqSum(s))
    ensures SeqSum([a]) == a
  {
    var longer := [a] + s;
    assert longer[0] == a && longer[1..] == s;
    var single := [a];
    assert single[1..] == [];
  }

  lemma SumsExchange(a: Elem, left: seq<Elem>, right: seq<Elem>)
    ensures SeqSum(left + ([a] + right)) == Add(a, SeqSum(left + right))
  {
    SumOfBoth(left, [a] + right);
    SumOfOneMore(a, right);
    SumOfBoth(left, right);
  }

  // The order of skills does not matter to the sum of their trits.
  lemma OrderDoesNotMatter(a: seq<Elem>, b: seq<Elem>)
    requires multiset(a) == multiset(b)
    ensures SeqSum(a) == SeqSum(b)
    decreases |a|
  {
    if |a| == 0 {
      assert |multiset(b)| == 0;
      assert |b| == 0;
    } else {
      assert a[0] in multiset(a);
      assert a[0] in b;
      var i :| 0 <= i < |b| && b[i] == a[0];
      var left, right := b[..i], b[i + 1..];
      TheRestIsTheSame(a, b, i);
      OrderDoesNotMatter(a[1..], left + right);
      assert b == left + ([a[0]] + right);
      SumsExchange(a[0], left, right);
    }
  }

  lemma TheRestIsTheSame(a: seq<Elem>, b: seq<Elem>, i: int)
    requires multiset(a) == multiset(b) && |a| > 0
    requires 0 <= i < |b| && b[i] == a[0]
    ensures multiset(a[1..]) == multiset(b[..i] + b[i + 1..])
  {
    assert a == [a[0]] + a[1..];
    assert b == b[..i] + ([b[i]] + b[i + 1..]);
    assert multiset(a) == multiset{a[0]} + multiset(a[1..]);
    assert multiset(b) == multiset(b[..i]) + (multiset{b[i]} + multiset(b[i + 1..]));
    assert multiset(a[1..]) == multiset(a) - multiset{a[0]};
    assert multiset(b[..i] + b[i + 1..]) == multiset(b) - multiset{b[i]};
  }

  lemma TheBalancerBalances(s: seq<Elem>)
    ensures IsBalanced(s + [FindBalancer(s)])
    ensures FindBalancer(s) == 0 <==> IsBalanced(s)
  {
    OneMoreAtTheEnd(s, FindBalancer(s));
  }

  lemma OnlyTheBalancerBalances(s: seq<Elem>, c: Elem)
    requires IsBalanced(s + [c])
    ensures c == FindBalancer(s)
  {
    OneMoreAtTheEnd(s, c);
  }

  lemma OneMoreAtTheEnd(s: seq<Elem>, c: Elem)
    ensures SeqSum(s + [c]) == Add(SeqSum(s), c)
  {
    SumOfBoth(s, [c]);
    SumOfOneMore(c, []);
  }

  lemma BalancedSetsJoin(a: seq<Elem>, b: seq<Elem>)
    requires IsBalanced(a)
    ensures IsBalanced(a + b) <==> IsBalanced(b)
  {
    SumOfBoth(a, b);
  }

  lemma TriplesAndQuadsAreSets(a: Elem, b: Elem, c: Elem, d: Elem)
    ensures IsBalancedTriple(a, b, c) <==> IsBalanced([a, b, c])
    ensures IsBalancedQuad(a, b, c, d) <==> IsBalanced([a, b, c, d])
  {
    SumOfOneMore(d, []);
    SumOfOneMore(c, []);
    SumOfOneMore(b, [c]);
    SumOfOneMore(a, [b, c]);
    assert [b] + [c] == [b, c];
    assert [a] + [b, c] == [a, b, c];
    SumOfOneMore(c, [d]);
    SumOfOneMore(b, [c, d]);
    SumOfOneMore(a, [b, c, d]);
    assert [c] + [d] == [c, d];
    assert [b] + [c, d] == [b, c, d];
    assert [a] + [b, c, d] == [a, b, c, d];
  }

  // ── exactly nine of the 27 triples are balanced ──

  function One(a: Elem, b: Elem, c: Elem): nat { if IsBalancedTriple(a, b, c) then 1 else 0 }

  function BalancedWithPair(a: Elem, b: Elem): nat { One(a, b, 0) + One(a, b, 1) + One(a, b, 2) }

  function BalancedWith(a: Elem): nat {
    BalancedWithPair(a, 0) + BalancedWithPair(a, 1) + BalancedWithPair(a, 2)
  }

  function BalancedTriples(): nat { BalancedWith(0) + BalancedWith(1) + BalancedWith(2) }

  lemma NineOfTwentySevenTriplesAreBalanced()
    ensures BalancedTriples() == 9
  {
  }

  lemma EveryPairHasOneThird(a: Elem, b: Elem)
    ensures exists c: Elem :: IsBalancedTriple(a, b, c)
    ensures forall c, d: Elem :: IsBalancedTriple(a, b, c) && IsBalancedTriple(a, b, d) ==> c == d
  {
    assert IsBalancedTriple(a, b, FindBalancer([a, b])) by {
      TheBalancerBalances([a, b]);
      assert [a, b] + [FindBalancer([a, b])] == [a, b, FindBalancer([a, b])];
      TriplesAndQuadsAreSets(a, b, FindBalancer([a, b]), 0);
    }
  }

  // A balanced triple is three of a kind or one of each.
  lemma BalancedTriplesAreAllAlikeOrAllDifferent(a: Elem, b: Elem, c: Elem)
    ensures IsBalancedTriple(a, b, c) <==> (a == b == c) || (a != b && b != c && a != c)
  {
  }

  // ── the trit of a name: eight bytes of a digest, little-endian, modulo 3 ──

  type Byte = x: int | 0 <= x < 256 witness 0

  function LittleEndian(bytes: seq<Byte>): nat
    decreases |bytes|
  {
    if |bytes| == 0 then 0 else bytes[0] + 256 * LittleEndian(bytes[1..])
  }

  function ByteSum(bytes: seq<Byte>): nat
    decreases |bytes|
  {
    if |bytes| == 0 then 0 else bytes[0] + ByteSum(bytes[1..])
  }

  function TritOfDigest(digest: seq<Byte>): Elem
    requires |digest| >= 8
  { LittleEndian(digest[..8]) % 3 }

  function Threes(bytes: seq<Byte>): nat
    decreases |bytes|
  {
    if |bytes| == 0 then 0 else 85 * LittleEndian(bytes[1..]) + Threes(bytes[1..])
  }

  // 256 is one more than 3 * 85, so the place of a byte does not matter to the remainder.
  lemma ThreesAreLeft(bytes: seq<Byte>)
    ensures LittleEndian(bytes) == ByteSum(bytes) + 3 * Threes(bytes)
    decreases |bytes|
  {
    if |bytes| > 0 { ThreesAreLeft(bytes[1..]); }
  }

  lemma ThreesDoNotMatter(sum: nat, threes: nat)
    ensures (sum + 3 * threes) % 3 == sum % 3
  {
  }

  lemma BytesMayBeAdded(bytes: seq<Byte>)
    ensures LittleEndian(bytes) % 3 == ByteSum(bytes) % 3
  {
    ThreesAreLeft(bytes);
    ThreesDoNotMatter(ByteSum(bytes), Threes(bytes));
  }

  method ComputeTrit(digest: seq<Byte>) returns (trit: Elem)
    requires |digest| >= 8
    ensures trit == TritOfDigest(digest)
  {
    var bytes := digest[..8];
    var i: int := |bytes|;
    var sum: int := 0;
    while i > 0
      invariant 0 <= i <= |bytes|
      invariant sum == ByteSum(bytes[i..])
    {
      i := i - 1;
      assert bytes[i..][1..] == bytes[i + 1..];
      var byte: int := bytes[i];
      sum := byte + sum;
    }
    assert bytes[0..] == bytes;
    BytesMayBeAdded(bytes);
    return sum % 3;
  }
}
