"""How language models say that they have nothing to say, as patterns for one clause each.

A clause is in lower case, with straight quotes and, in English, without short forms ("don't" is "do not"). Patterns
name what is looked for (information, memories, an answer) so that sentences about the world do not fit: "no
information was found", but not "no information was leaked"; "I cannot answer this question", but not "I cannot eat
gluten".
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

LONG_FORMS: Final = tuple(
    (re.compile(short), long)
    for short, long in (
        (r"\b(?:can'?t|can not)\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"\b(do|did|does|could|would|should|is|are|was|were|has|have|had)n'?t\b", r"\1 not"),
        (r"\bi'm\b", "i am"),
        (r"\b(we|they|you)'re\b", r"\1 are"),
        (r"\b(i|we|they|you)'ve\b", r"\1 have"),
        (r"\b(i|we|they|you)'d\b", r"\1 would"),
        (r"\b(i|we|they|you|it)'ll\b", r"\1 will"),
        (r"\b(there|it|that)'s\b", r"\1 is"),
    )
)

_KIND = (
    r"(?:(?:any|relevant|specific|sufficient|enough|further|additional|more|such|matching|related|useful|available|"
    r"stored|reliable|concrete|direct|recorded|the|that|this|an?|requested|necessary|needed|required|existing|prior|"
    r"previous|explicit|meaningful|actual|known|detailed|personal|of|or|and|supporting|pertinent|corresponding)\s+)*"
)
_TOLD = (
    r"(?:information|info|memor(?:y|ies)|facts?|details?|knowledge|mentions?|references?|anything|something|context|"
    r"recollections?)"
)
_ONE_KEPT = rf"(?:{_TOLD}|data|records?|results?|answers?|entries|documents?|matches|sources?|observations?|content)"
_KEPT = rf"{_ONE_KEPT}(?: (?:or|and) {_ONE_KEPT})?"
_MEMORY = (
    r"(?:memor(?:y|ies)|memory (?:bank|store)|knowledge(?: base)?|context|search(?:es)?|search results|recall|"
    r"retrieval|quer(?:y|ies)|tools?|(?:provided|available|retrieved|given|returned|supplied|recalled|"
    r"stored) (?:\w+ )?(?:documents?|facts|data|records|sources|information|results|notes|texts?))"
)
_ABOUT = (
    r"(?:,? (?:about|on|for|of|regarding|concerning|related|relating|relevant|pertaining|with|within|to|in|from|that|"
    r"at|available|currently|right now|yet|so far|here|matching|as|stored|recorded|found|provided|by|based|given|"
    r"needed|necessary|required|whatsoever|what|whether|who|when|where|how|why|or)\b.*)?"
)
_TOPIC = (
    rf"(?: (?:about|regarding|concerning|for|on|yet|so far|matching|related|relevant|that match|currently|here|"
    rf"to answer|(?:in|from|within) (?:the |my |this |your |our |any )?(?:\w+ )?{_MEMORY}|at (?:this|the) (?:time|"
    rf"moment))\b.*)?"
)
_CANNOT = (
    r"(?:cannot|could not|did not|do not|failed to|am unable to|was unable to|were unable to|are unable to|"
    r"am not able to|was not able to|were not able to|are not able to|will not be able to|would not be able to|"
    r"am not allowed to|am not permitted to|have not been able to|have been unable to)(?: currently| really|"
    r" actually| seem to)?"
)
_I = r"(?:i|we)(?: currently| still| really| simply| also)?"
_IT = r"(?:this|that|it|these|those|your|such|any|the (?:request|question|query|task|topic))\b.*"
_DOCUMENT = r"(?:answers?|summar(?:y|ies)|documents?|responses?|overview|report|description|page|profile|biography)"
_ASKED = r"(?:who|what|when|where|why|which|whether|how)"

_AS_AN_AI = (
    r"as an? (?:ai|artificial intelligence|(?:large )?language model|llm)(?:[ -](?:powered|language|model|assistant|"
    r"chatbot|system|agent))*(?: (?:developed|created|trained|made|built) by \w+)?"
)

_ENGLISH: Final = (
    rf"{_I} {_CANNOT} (?:have|find|see|locate|retrieve|recall|access|identify|possess|hold|get|discover|provide|give|"
    rf"offer|share)(?: you(?: with)?)? {_KIND}{_KEPT}{_ABOUT}",
    rf"(?:was |were )?(?:unable to|not able to|cannot|could not|failed to) (?:find|locate|retrieve|"
    rf"identify) {_KIND}{_KEPT}{_ABOUT}",
    rf"{_I} lack (?:the |any |sufficient |enough |relevant |necessary )*(?:information|context|knowledge|"
    rf"memories){_ABOUT}",
    rf"{_I} (?:have|had|found|find|see|got|received|hold) (?:no|not enough|insufficient|too little|not found|"
    rf"not been given|not been provided with|not seen) {_KIND}{_KEPT}{_ABOUT}",
    rf"{_I} (?:have|found|know|see|recall|remember|got) nothing(?: relevant| useful| stored)?{_ABOUT}",
    r"i have no (?:idea|clue|way of knowing)",
    r"i do not have (?:access to|the ability to)\b.*\b(?:information|memor(?:y|ies)|real-time|internet|web|knowledge|"
    r"conversations?|personal)\b.*",
    rf"{_I} do not know(?: the answer\b.*| (?:anything|enough|much) (?:about|to)\b.*| {_ASKED} (?!to\b).*| that)?",
    rf"(?:{_I} {_CANNOT}|(?:i am )?(?:unable to|cannot|could not)) (?:answer|respond(?: to)?|comply(?: with)?|"
    rf"address|fulfil?l|complete|process|help(?: you)?(?: with)?|assist(?: you)?(?: with)?|do)(?: {_IT})?",
    rf"{_I} {_CANNOT} (?:provide|give|offer|write|generate|create|produce|compile|draft|"
    rf"complete)(?: you(?: with)?)? {_KIND}{_DOCUMENT}{_ABOUT}",
    rf"(?:{_I} {_CANNOT}|unable to|cannot|could not) (?:determine|say|tell|verify|confirm|"
    rf"establish)(?: you)? (?:{_ASKED}|this|that|the answer)\b.*",
    rf"there (?:is|are|was|were|does not (?:seem|appear) to be)(?: currently| simply)? (?:no|not|insufficient|"
    rf"any) {_KIND}(?:information|info|memor(?:y|ies)|facts?|details?|knowledge){_ABOUT}",
    rf"there (?:is|are|was|were)(?: currently)? no {_KIND}(?:mentions?|references?|record)\b.* in .*{_MEMORY}",
    rf"there (?:is|are|was|were)(?: currently)? (?:no|not|insufficient) {_KIND}{_KEPT} (?:available|found|matching|"
    rf"returned)\b.*",
    rf"there (?:is|are|was|were) (?:no|not) (?:enough|relevant|sufficient|matching) {_KIND}{_KEPT}{_ABOUT}",
    rf"there (?:is|was) nothing(?: relevant| stored| recorded)? (?:in|about) (?:the |my |this )?(?:\w+ )?{_MEMORY}\b.*",
    rf"no {_KIND}{_KEPT} (?:(?:was|were|is|are|could be|can be|has been|have been) )?(?:currently )?(?:found|"
    rf"available|retrieved|located|returned|provided|identified|exists?|match(?:es|ed)?)(?:{_ABOUT}| (?:this|the|"
    rf"your)\b.*)",
    rf"no {_KIND}{_KEPT}(?: (?:about|on|regarding) .{{1,60}})? (?:(?:was|were|is|are|has been|have been) )?(?:stored|"
    rf"recorded|retained|known|saved|present){_TOPIC}",
    rf"no {_KIND}{_TOLD} (?:about|on|regarding|concerning|for)(?: [\w'-]+){{1,3}}",
    r"it is (?:not possible|impossible) to (?:answer|determine|say|provide)\b.*",
    rf"found (?:nothing|(?:no|not enough|insufficient) {_KIND}{_KEPT}){_ABOUT}",
    r"(?:the |my |your )?(?:memory|memory (?:bank|store)|context|knowledge base) is(?: currently)? empty",
    rf"none of (?:the|my|these) (?:\w+ )?(?:memories|facts|observations|results) (?:mentions?|(?:is|are|"
    rf"seems?) relevant|address(?:es)?|answers?|covers?|relates?|contains? {_KIND}{_TOLD})\b.*",
    rf"(?:insufficient|not enough) {_KIND}{_KEPT}(?: (?:is|was|are|were)(?= ))?{_ABOUT}",
    rf"nothing(?: relevant| useful)? (?:was|is|has been|could be|were) (?:found|known|recorded|stored|returned|"
    rf"retrieved|remembered){_TOPIC}",
    rf"(?:this|that|it|the|your) ?(?:question|query|request)? (?:cannot|could not) be (?:answered|determined|"
    rf"fulfilled){_ABOUT}",
    r"(?:the|an) answer (?:cannot|could not) be (?:found|determined|provided|given)\b.*",
    rf"(?:the|this|a|no) {_DOCUMENT} (?:cannot|could not) be (?:written|generated|created|produced)\b.*",
    rf"(?:the|my|these|this|your|our|any|all)(?: [\w']+){{0,2}} {_MEMORY}(?: (?:provided|available|retrieved|given|"
    rf"returned|above|results|i have|for this \w+)){{0,2}} (?:do|does|did) not (?:contain|include|mention|provide|"
    rf"have|cover|hold|return|give|yield|show|reveal|offer) (?:{_KIND}(?:{_TOLD}|results?|answers?){_ABOUT}|"
    rf"this topic|enough)",
    rf"(?:the|my|these|this|your|our|a)(?: [\w']+){{0,2}} {_MEMORY}(?: results)? (?:returned|yielded|contains?|has|"
    rf"have|gave|produced|found|came back with) (?:nothing|(?:no|not enough|insufficient) {_KIND}(?:{_TOLD}|results?|"
    rf"answers?)){_ABOUT}",
    rf"(?:the )?(?:information|details|memories|facts|data)(?: (?:about|on|regarding|for|needed|required|"
    rf"necessary) .{{1,80}})?(?: (?:is|are|was|were))? (?:not (?:available|provided|found|present|known)|unavailable|"
    rf"insufficient){_TOPIC}",
    rf".{{1,80}} (?:is|are|was|were|has|have)(?: been)? not (?:been )?(?:mentioned|covered|discussed|recorded|"
    rf"documented|addressed|found|present|described) in (?:the|my|any|your|our|these|this)(?: \w+){{0,2}} {_MEMORY}",
    rf"{_AS_AN_AI},? (?:i|we) (?:do not|cannot|could not|am unable to|am not able to|lack|must decline)(?: (?:have|"
    rf"know|provide|access|browse|answer|help|assist|possess|retain|remember|store|generate|see|find|retrieve|"
    rf"the)\b.*)?",
    r"i (?:must|have to|will have to)(?: \w+)? decline\b.*",
)  # fmt: skip

_CHINESE_KEPT = "(?:信息|資訊|资料|資料|记忆|記憶|内容|內容|记录|記錄|答案|数据|數據|事实|線索|线索)"
_CHINESE: Final = (
    rf"(?:我|我们|我們|目前|当前|當前|暂时|暫時|这里|這裡|关于.{{1,30}}?|記憶(?:庫)?中?|记忆(?:库)?(?:中|里)?|知识库(?:中|里)?|现有.{{0,8}}?(?:中|里)|"
    rf"在.{{1,12}}?(?:中|里|内)|根据.{{1,14}}?[,，]?|[,，]){{0,3}}(?:没有|沒有|没|未能?|无法|無法|找不到|查不到|暂无|暫無|尚无|并未|不能|缺乏)(?:提供|找到|查到|"
    rf"检索到|檢索到|搜索到|发现|發現|获取|獲取|包含|存储|记录)?.{{0,40}}?{_CHINESE_KEPT}.{{0,14}}",
    r"(?:我|我们)?(?:无法|無法|不能|没办法)(?:回答|解答|提供|确定|完成|协助|帮助).{0,30}",
    r"(?:我|我们)?(?:不知道|不清楚|不了解)(?:答案|.{0,20}信息)?",
    rf"(?:相关)?(?:{_CHINESE_KEPT})(?:不足|不够|缺失|未找到).{{0,20}}",
    r"作为(?:一个|一名|一款)?(?:人工智能|ai)(?:语言模型|助手|模型)?[,，]?(?:我)?(?:无法|不能|没有).*",
)

_GERMAN_KEPT = r"(?:informationen|information|erinnerungen|angaben|daten|einträge|hinweise|fakten|kenntnisse|antwort)"
_GERMAN_KIND = r"(?:(?:relevanten?|passenden?|weiteren?|genauen?|ausreichenden?|ausreichend|konkreten?|näheren?)\s+)*"
_GERMAN_TAIL = (
    r"(?: (?:über|zu|zum|zur|dazu|darüber|hierzu|diesbezüglich|bezüglich|in|gefunden|finden|vor|verfügbar|vorhanden|"
    r"bekannt|gespeichert)\b.*)?"
)
_GERMAN: Final = (
    rf"(?:dazu |hierzu |darüber |(?:über|zu) .{{1,40}} )?(?:ich |mir |wir |uns |habe |es ){{0,3}}(?:habe|konnte|kann|"
    rf"haben|konnten|finde|besitze|gibt|liegen|liegt|wurden|wurde|sind|stehen|verfüge)(?: ich| wir| mir| uns| es|"
    rf" leider| dazu| hierzu| derzeit| aktuell| über| zu .{{1,40}}?){{0,3}} keine "
    rf"{_GERMAN_KIND}{_GERMAN_KEPT}{_GERMAN_TAIL}",
    rf"keine {_GERMAN_KIND}{_GERMAN_KEPT}(?: (?:zu|über|zum|zur) .{{1,60}})?(?: (?:gefunden|verfügbar|vorhanden|"
    rf"bekannt|verfügbar|gespeichert))?(?: (?:zu|über|zum|zur) .{{1,60}})?",
    r"(?:ich|wir) (?:kann|können|konnte|konnten)(?: leider)? (?:diese|die|ihre|deine|das|"
    r"dazu)(?: \w+)? (?:leider )?(?:frage )?(?:leider )?(?:nicht|nichts|keine)\b.*",
    r"(?:das |dazu )?(?:weiß ich|ich weiß)(?: es| das| dazu)?(?: leider)? (?:nicht|nichts)",
    r"als (?:ki|künstliche intelligenz)\b.{0,30}?,? (?:kann|habe|verfüge) ich (?:leider )?(?:nicht|keine)\b.*",
)

_FRENCH_KEPT = (
    r"(?:informations?|souvenirs?|données?|renseignements?|éléments?|mémoires?|détails?|réponse|résultats?|faits?)"
)
_FRENCH_NONE = r"(?:pas|aucune?|rien|pas assez|pas suffisamment|d')"
_FRENCH_TAIL = (
    r"(?: (?:sur|à|au|concernant|pertinente?s?|disponibles?|suffisante?s?|relative|pour|trouvée?s?|dans (?:la |ma |"
    r"les |mes |le )?(?:mémoire|souvenirs|contexte))\b.*)?"
)
_FRENCH: Final = (
    rf"(?:je|nous|on) (?:n'|ne )(?:ai|avons|dispose|disposons|trouve|trouvons|peux|pouvons|possède|parviens|"
    rf"a)\b.{{0,30}}?\b{_FRENCH_NONE}.{{0,30}}?\b{_FRENCH_KEPT}{_FRENCH_TAIL}",
    rf"il n'(?:y a|existe)(?: actuellement| malheureusement)? (?:pas|aucune?)(?: assez)?(?: d'|"
    rf" de )? ?(?:\w+ )?{_FRENCH_KEPT}{_FRENCH_TAIL}",
    rf"aucune? (?:\w+ )?{_FRENCH_KEPT}(?: \w+)? (?:n'(?:a|est|ont)|n'a été|disponible|trouvée?)\b.*",
    r"je ne (?:peux|suis) pas (?:répondre|en mesure de|capable de|vous aider)\b.*",
    r"je (?:ne )?sais pas",
    r"en tant qu(?:'ia|e (?:modèle de langage|modèle linguistique|ia))\b.{0,40}?,? je n.*",
)

_SPANISH_KEPT = r"(?:información|informaciones|datos|recuerdos|detalles|memorias|registros|resultados|respuesta|hechos)"
_SPANISH_TAIL = (
    r"(?: (?:sobre|acerca|del?|relevantes?|disponibles?|suficientes?|específic[oa]s?|relacionad[oa]s?|para|"
    r"al respecto|en (?:mi|mis|la memoria|los recuerdos|el contexto))\b.*)?"
)
_SPANISH: Final = (
    rf"(?:yo )?no (?:tengo|dispongo|cuento|encontré|encuentro|puedo|pude|poseo|hay|existe|existen|se (?:encontró|"
    rf"encontraron|ha encontrado|han encontrado|dispone|encuentra)|he (?:encontrado|podido)|tenemos|disponemos|"
    rf"hemos encontrado|encontramos)\b.{{0,40}}?\b{_SPANISH_KEPT}{_SPANISH_TAIL}",
    r"no (?:puedo|es posible) (?:responder|contestar|ayudar(?:te|le)?)\b.*",
    r"no (?:lo )?sé",
    r"como (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)\b.{0,40}?,? no .*",
    rf"ningun[oa]? {_SPANISH_KEPT} .{{0,20}}(?:disponible|encontrad[oa]).*",
)

_REFUSALS: Final = "|".join(f"(?:{each})" for each in (*_ENGLISH, *_CHINESE, *_GERMAN, *_FRENCH, *_SPANISH))

_OPENINGS: Final = (
    r"(?:(?:unfortunately|regrettably|sadly|sorry|(?:my )?apologies|i (?:do )?apologi[sz]e(?: for (?:the|any) \w+)?|"
    r"i am (?:so |very |really |truly )?sorry|i am afraid|i regret to (?:inform|tell) you|currently|at (?:this|"
    r"the) (?:time|moment)|right now|as of now|so far|(?:it )?(?:seems|appears|looks like)|(?:please )?note that|"
    r"hello|hi|(?:thank you|thanks) for [^,]{1,40}|(?:answer|response|summary|note|result):|however|(?:based on|from|"
    r"in|within|given|according to|after (?:\w+ )?(?:searching|reviewing|checking|looking|search|review)(?: through|"
    r" in| at| of)?) (?:the|my|your|all|these|this|available|what)[^,]{0,60}?(?:memor(?:y|ies)|information|context|"
    r"facts|data|documents?|results|search(?:es)?|knowledge|knowledge base|bank|have|query|question|"
    r"me)(?: (?:provided|available|retrieved))?|(?:非常|很)?(?:抱歉|对不起|對不起|遗憾)|您好|你好|leider|"
    r"(?:es )?tut mir (?:sehr )?leid|entschuldigung|bedauerlicherweise|(?:je suis )?désolée?|malheureusement|"
    r"je regrette|lo siento(?: mucho)?|lamentablemente|desafortunadamente|lo lamento|perdón)(?:[,，:.! ]+|$)(?:that |"
    r"que |dass )?){1,4}"
)

_COURTESIES: Final = (
    rf"{_AS_AN_AI}|(?:作为|根据|基于|关于).{{1,20}}|"
    rf"(?:please|feel free|let me know|if (?:you|there)|you (?:can|could|may|"
    rf"might)|try|would you|could you|can you|do you|i (?:can|could|would|will|need|am (?:happy|glad))|once|when|"
    rf"is there|how (?:can|may)|to (?:help|answer)|as (?:more|new)|with more)\b[^\d@]*\b(?:provid|shar|rephras|"
    rf"clarif|specif|elaborat|know|help|assist|again|context|information|memories|details|question|topic|else|updat|"
    rf"search|answer)\w*[^\d@]*|(?:this|the) (?:document|page|section|summary|answer) will be (?:updated|written|"
    rf"created|generated|filled|expanded)[^\d]*|i (?:have )?(?:searched|checked|reviewed|looked)\b[^\d@]*\b(?:memor|"
    rf"knowledge|context|bank)[^\d@]*|i am (?:just |only )?an (?:ai|assistant|language model)\b[^\d]{{0,40}}|"
    rf"how can i help.*|(?:请|請|如果|您可以|你可以|建议|如有|若).*(?:提供|补充|告诉|更多|问题|信息|帮助|重新|尝试).*|"
    rf"(?:bitte|wenn sie|falls sie|"
    rf"gerne|könnten sie).*|(?:veuillez|si vous|n'hésitez|pourriez|merci).*|(?:por favor|si (?:tienes|tiene|puedes|"
    rf"necesitas)|podrías|puedes).*"
)


def refuses(clause: str) -> bool:
    """Whether a whole clause says that there is nothing to say."""
    return _compiled(_REFUSALS).fullmatch(clause) is not None


def is_courtesy(clause: str) -> bool:
    """Whether a whole clause may stand beside a refusal and says nothing itself: "please rephrase your question"."""
    return not clause or _compiled(_COURTESIES).fullmatch(clause) is not None


def without_opening(clause: str) -> str:
    """The clause without "unfortunately", "based on the memories" and the like; nothing of a mere "I am sorry"."""
    opening = _compiled(_OPENINGS).match(clause)
    return clause[opening.end() :] if opening else clause


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first asked: it takes longer than everything else at start."""
    return re.compile(pattern)
