// The requirements on the three levels and on the whole, said again without the names of the model's own parts.

include "../../formal/AgentSkills.dfy"

module Levels {
  import opened Text
  import opened Names
  import opened Containment
  import opened AgentSkills

  lemma Level1(l: Listing)
    ensures IsValidLevel1(l) <==> IsValidSkillName(l.name) && IsValidDescription(l.description) && l.body == None
  {
  }

  lemma Level2(body: string)
    ensures IsValidLevel2(body) <==> Lines(body) <= 500
  {
  }

  lemma Level3(paths: seq<string>, root: Path)
    requires IsValidLevel3(paths)
    ensures forall p :: p in paths ==> NeverLeaves(root, Split(p, '/'))
  {
    forall p | p in paths ensures NeverLeaves(root, Split(p, '/')) {
      AcceptedPathsAreContained(root, p);
    }
  }

  lemma Complete(s: Skill)
    ensures IsValidCompleteSkill(s) <==>
      IsValidSkillDirectory(s.directory) && IsValidFrontmatter(s.frontmatter) &&
      IsValidLevel1(Listing(s.frontmatter.name, s.frontmatter.description, None)) && IsValidLevel2(s.body) &&
      IsValidLevel3(s.resources) && s.frontmatter.name == s.directory.name
  {
  }
}
