// The requirements on fields and directory, said again without the names of the model's own parts.

include "../../formal/AgentSkills.dfy"

module FieldsAndDirectory {
  import opened Text
  import opened Names
  import opened AgentSkills

  lemma Name(s: string)
    ensures IsValidSkillName(s) <==>
      1 <= |s| <= 64 &&
      (forall i :: 0 <= i < |s| ==> 'a' <= s[i] <= 'z' || '0' <= s[i] <= '9' || s[i] == '-') &&
      s[0] != '-' && s[|s| - 1] != '-' &&
      (forall i :: 0 <= i < |s| - 1 ==> s[i] == '-' ==> s[i + 1] != '-')
  {
  }

  lemma Description(d: string)
    ensures IsValidDescription(d) <==> 1 <= |d| <= 1024
  {
  }

  lemma Front(f: Frontmatter)
    ensures IsValidFrontmatter(f) ==> IsValidSkillName(f.name) && 1 <= |f.description| <= 1024
    ensures IsValidFrontmatter(f) && f.compatibility.Some? ==> 1 <= |f.compatibility.value| <= 500
    ensures IsValidFrontmatter(f) ==> NoDuplicates(f.metadata)
    ensures IsValidFrontmatter(f) ==> forall key :: key in f.keys ==>
      key in ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
  {
    UniqueKeysAreDistinct(f.metadata);
  }

  lemma Dir(d: Directory)
    ensures IsValidSkillDirectory(d) <==> d.name != "" && ("SKILL.md" in d.files || "skill.md" in d.files)
    ensures "SKILL.md" in d.files ==> SkillFile(d.files) == Some("SKILL.md")
    ensures IsValidSkillDirectory(d) && "SKILL.md" !in d.files ==> SkillFile(d.files) == Some("skill.md")
  {
  }
}
