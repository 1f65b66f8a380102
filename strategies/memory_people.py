"""Words for the people and animals of a user's life, and for what people do for a living."""

from __future__ import annotations

import re
from re import Pattern

__all__ = ["JOBS", "JOBS_ZH", "KIN", "KIN_ZH", "any_of"]

JOBS = (
    "engineer|developer|programmer|teacher|nurse|doctor|student|lawyer|designer|manager|writer|journalist|researcher|scientist|"
    "analyst|consultant|accountant|architect|chef|cook|pilot|driver|artist|musician|freelancer|founder|professor|carpenter|"
    "plumber|"
    "electrician|therapist|pharmacist|dentist|translator|photographer|salesperson|mechanic|farmer|baker|barber|waiter|waitress|"
    "physicist|chemist|biologist|veterinarian|midwife|librarian|firefighter|police officer|paramedic|psychologist|"
    "physiotherapist|"
    "surveyor|welder|gardener|florist|bookkeeper|secretary|receptionist|cashier|tutor|coach|editor|actor|actress|retiree|"
    "pensioner"
)
JOBS_ZH = (
    "工程师|老师|教师|医生|护士|学生|律师|设计师|经理|程序员|会计|作家|研究员|司机|厨师|记者|翻译|销售|警察|军人|演员|歌手|画家|"
    "教授|公务员|农民|工人|药剂师|牙医|摄影师|编辑|教练|导游|店长|自由职业者|全职妈妈"
)
KIN = (
    "wife|husband|partner|sons?|daughters?|mother|father|mom|mum|dad|brothers?|sisters?|boss|dogs?|cats?|girlfriend|boyfriend|"
    "child|children|kids?|baby|twins|parents|grand(?:mother|father|ma|pa|son|daughter|parents)|nieces?|nephews?|aunt|uncle|"
    "cousins?|"
    "fianc[eé]e?|step(?:son|daughter|mother|father)|pupp(?:y|ies)|kittens?|horses?|pony|rabbits?|hamsters?|parrots?|budgies?|"
    "tortoise|turtles?|guinea pigs?|pets?"
)
KIN_ZH = (
    "老婆|妻子|太太|爱人|丈夫|老公|儿子|女儿|孩子|宝宝|妈妈|母亲|爸爸|父亲|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|外婆|外公|男朋友|女朋友|"
    "男友|女友|未婚[夫妻]|双胞胎|孙子|孙女|小?猫咪?|小?狗狗?|兔子|仓鼠|鹦鹉|乌龟|宠物|老?[爸妈]|爸妈|[大小]?[哥姐弟妹](?!们)"
)


def any_of(*alternatives: str) -> Pattern[str]:
    """A pattern that finds what one of these finds, in upper or lower case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)
